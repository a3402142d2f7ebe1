/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Put behind a page of clv-view (tests/support/page.sh): measures what a reader sees, and writes it
 * as words into an element of its own.
 *
 *      font      smallest text, in px as it is drawn
 *      gap       largest height of a band of a section that nothing is drawn in, in px
 *      beyond    px that the page is wider than its window
 *      contrast  smallest contrast of what charts and text are drawn in to what is behind, and of
 *                the two kinds of bars to each other
 *      clicks    things that only a mouse can reach
 *      canvas    its role
 */
(() => {
'use strict';
const visible = e => e.getClientRects().length > 0;
const leaves = [...document.querySelectorAll('body *')].filter(e => visible(e) && !['SCRIPT', 'STYLE'].includes(e.tagName));
const words = leaves.filter(e => [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()));
const scale = e => e.ownerSVGElement ? e.ownerSVGElement.getBoundingClientRect().width / e.ownerSVGElement.viewBox.baseVal.width : 1;
const font = Math.min(...words.map(e => parseFloat(getComputedStyle(e).fontSize) * scale(e)));

const drawn = 'h2, p, td, th, canvas, button, summary, svg text, svg rect, svg line, svg polyline';
const gapOf = section => {
    const box = section.getBoundingClientRect(), parts = [...section.querySelectorAll(drawn)].filter(visible).map(e => e.getBoundingClientRect()).sort((a, b) => a.top - b.top);
    let end = box.top, gap = 0;
    for (const part of parts) { gap = Math.max(gap, part.top - end); end = Math.max(end, part.bottom); }
    return Math.max(gap, box.bottom - end);
};
const gap = Math.max(0, ...[...document.querySelectorAll('section')].filter(visible).map(gapOf));

const paint = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
const light = name => {
    paint.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(name);
    paint.fillRect(0, 0, 1, 1);
    const [r, g, b] = [...paint.getImageData(0, 0, 1, 1).data].map(c => c / 255).map(c => c <= .04045 ? c / 12.92 : Math.pow((c + .055) / 1.055, 2.4));
    return .2126 * r + .7152 * g + .0722 * b + .05;
};
const contrast = (a, b) => Math.max(light(a), light(b)) / Math.min(light(a), light(b));
const least = Math.min(...['--ink', '--soft', '--own', '--wait', '--mark'].map(name => contrast(name, '--bg')), contrast('--own', '--wait'));

const clicks = leaves.filter(e => e.onclick && !['BUTTON', 'CANVAS', 'SUMMARY'].includes(e.tagName)).length;
const canvas = document.querySelector('canvas');
const said = document.createElement('p');
said.id = 'measured';
said.textContent = 'font=' + Math.floor(font * 10) / 10 + ' gap=' + Math.ceil(gap) + ' beyond=' + Math.max(0, document.documentElement.scrollWidth - innerWidth) +
    ' contrast=' + Math.floor(least * 10) / 10 + ' clicks=' + clicks + ' canvas=' + canvas.getAttribute('role') + (canvas.getAttribute('aria-label') ? '' : '-nameless');
document.body.append(said);
})();
