# SPDX-License-Identifier: BSD-3-Clause
"""clv for Spack. The component goes into its own prefix; the environment that Spack makes tells Open MPI."""

from spack.package import *

try:
    from spack_repo.builtin.build_systems.autotools import AutotoolsPackage
except ImportError:  # Spack before 1.0 has it in spack.package
    pass


class Clv(AutotoolsPackage):
    """Arrival-aware collectives for Open MPI: a component that predicts when each rank arrives at a
    reduce and runs a plan made for that. With it a benchmark (clv-bench, clv-bench-compare) and tools:
    clv-view shows who was late in a recorded job and what it cost; clv-clock, clv-plan, clv-predict, and
    with +otf2 clv-correct."""

    manual_download = True  # of the release: spack looks into the current folder

    license("BSD-3-Clause")
    version("0.2.0")

    variant("component", default=True, description="The component; else the tools alone")
    variant("hwloc", default=True, description="Find the background thread a core by hwloc")
    variant("xdr", default=False, description="clv-bench's option --xdr, by libtirpc")
    variant("otf2", default=False, description="clv-correct, alone and under mpirun: OTF2 traces")

    depends_on("c", type="build")
    depends_on("autoconf", type="build")
    depends_on("automake", type="build")
    depends_on("libtool", type="build")
    depends_on("pkgconfig", type="build")
    # One release of Open MPI for one of clv's installations: it refuses to run in another.
    depends_on("openmpi@4.1:6", type=("build", "link", "run"))
    depends_on("hwloc", when="+hwloc")
    depends_on("otf2", when="+otf2")
    depends_on("libtirpc", when="+xdr")

    def url_for_version(self, version):
        return f"file://clv-{version}.tar.gz"

    def configure_args(self):
        spec = self.spec
        args = [
            f"--with-ompi={spec['openmpi'].prefix}",
            f"--with-component-dir={self.component_dir}",
            f"--with-otf2={spec['otf2'].prefix}" if "+otf2" in spec else "--without-otf2",
        ]
        args.append("--with-xdr" if "+xdr" in spec else "--without-xdr")
        args.append("--with-hwloc" if "+hwloc" in spec else "--without-hwloc")
        if "~component" in spec:
            args.append("--without-component")
        return args

    @property
    def component_dir(self):
        return join_path(self.prefix.lib, "openmpi")

    def setup_run_environment(self, env):
        # What is named here must be there: mpirun stops at a folder that is missing.
        if "+component" in self.spec:
            own = join_path(self.spec["openmpi"].prefix.lib, "openmpi")
            env.set("OMPI_MCA_mca_base_component_path", f"{self.component_dir}:{own}")
            # The PMIx of Open MPI 5 looks there, too, and would tell of each file that is not its own.
            env.set("PMIX_MCA_mca_base_component_show_load_errors", "none")
