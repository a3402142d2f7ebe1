# net: sources.
clv_net_headers = net/net_channel.h net/net_cores.h net/net_interface.h net/net_listen.h net/net_mac.h \
	net/net_place.h net/net_thread.h
clv_net_sources = net/net_channel.c net/net_interface.c net/net_listen.c net/net_mac.c net/net_place.c \
	net/net_thread.c
if CLV_HAVE_HWLOC
clv_net_sources += net/net_cores.c
endif
