// The page's style and script. No outside fonts, pictures or libraries.

#include "report/sections.h"

namespace maskfit::report {

const char kStyle[] = R"css(
:root {
  --page: #f5f6f8; --card: #ffffff; --ink: #1b2430; --soft: #5d6b7b; --line: #e0e4ea; --accent: #2563c9;
  --good: #12803c; --bad: #c62828; --warn: #b45f06;
  --s0: #2563c9; --s1: #d9660a; --s2: #12874a; --s3: #a5359f; --s4: #b08900; --s5: #0a8aa0; --s6: #c3274a; --s7: #6b7280;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #12161c; --card: #1b212a; --ink: #e6eaf0; --soft: #9aa7b6; --line: #303945; --accent: #7fb0ff;
    --good: #4cc67c; --bad: #ff7b72; --warn: #f0a54a;
    --s0: #7fb0ff; --s1: #ffa057; --s2: #5fd08c; --s3: #e08be0; --s4: #e6c14f; --s5: #55c8dc; --s6: #ff7d98; --s7: #a3adb9;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
main { max-width: 1160px; margin: 0 auto; padding: 28px 20px 40px; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 36px 0 12px; }
h3 { font-size: .95rem; margin: 0 0 8px; }
header p { margin: 4px 0 0; color: var(--soft); }
footer, .small { color: var(--soft); font-size: .85rem; }
footer { margin-top: 40px; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 10px; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(132px, 1fr)); gap: 12px; margin-top: 20px; }
.tile { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 12px 16px; }
.tile b { display: block; font-size: 1.45rem; line-height: 1.25; font-variant-numeric: tabular-nums; white-space: nowrap; }
.tile span { color: var(--soft); font-size: .85rem; }
.notes { border-left: 4px solid var(--warn); background: var(--card); border-radius: 6px; padding: 10px 18px; margin-top: 20px; }
.notes h2 { margin: 0 0 4px; font-size: 1rem; color: var(--warn); }
.notes ul { margin: 0; padding-left: 20px; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 440px), 1fr)); gap: 16px; }
figure { margin: 0; }
.chart { padding: 14px 14px 8px; position: relative; }
.chart figcaption { font-weight: 600; font-size: .95rem; }
.chart svg { display: block; width: 100%; height: auto; margin-top: 6px; touch-action: pan-y; }
.chart .grid { stroke: var(--line); }
.chart .axis, .chart .mark { stroke: var(--soft); }
.chart .tick, .chart .label { fill: var(--soft); font-size: 12.5px; font-variant-numeric: tabular-nums; }
.chart .series path { fill: none; stroke: currentColor; stroke-width: 2; stroke-linejoin: round; }
.chart .dot { fill: currentColor; }
.chart .marker { fill: var(--card); stroke: currentColor; stroke-width: 2.5; }
.chart .cursor { stroke: var(--soft); stroke-dasharray: 3 3; }
.empty { color: var(--soft); padding: 40px 0; text-align: center; margin: 0; }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: 2px 14px; margin: 4px 0 0; padding: 0; font-size: .85rem; }
.legend li::before { content: ""; display: inline-block; width: 14px; height: 3px; border-radius: 2px; background: currentColor;
  margin-right: 6px; vertical-align: middle; }
.s0 { color: var(--s0); } .s1 { color: var(--s1); } .s2 { color: var(--s2); } .s3 { color: var(--s3); }
.s4 { color: var(--s4); } .s5 { color: var(--s5); } .s6 { color: var(--s6); } .s7 { color: var(--s7); }
.tip { position: absolute; pointer-events: none; background: var(--ink); color: var(--page); font-size: .8rem; line-height: 1.4;
  border-radius: 6px; padding: 4px 9px; white-space: nowrap; font-variant-numeric: tabular-nums; z-index: 1; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption { caption-side: top; text-align: left; color: var(--soft); font-size: .85rem; padding: 10px 14px 2px; }
th, td { padding: 8px 14px; text-align: right; white-space: nowrap; }
thead th { color: var(--soft); font-weight: 500; font-size: .85rem; }
tbody th { text-align: left; font-weight: 600; }
tbody tr + tr > * , tbody tr:first-child > * { border-top: 1px solid var(--line); }
.classes { width: 100%; }
.classes thead th:first-child { text-align: left; }
.bar { background: linear-gradient(to right, color-mix(in srgb, var(--accent) 24%, transparent) var(--share), transparent var(--share))
  no-repeat 0 50% / 100% 62%; }
.none { color: var(--soft); text-align: left; }
.scroll:has(.confusion) { width: fit-content; max-width: 100%; }
.confusion td { text-align: center; min-width: 92px; }
.confusion thead th { text-align: center; }
.heat b { display: block; } .heat span { font-size: .8rem; color: var(--soft); }
.heat.right { background: color-mix(in srgb, var(--good) calc(var(--share) * .45), transparent); }
.heat.wrong { background: color-mix(in srgb, var(--bad) calc(var(--share) * .45), transparent); }
.key { display: flex; flex-wrap: wrap; gap: 4px 16px; font-size: .85rem; margin-bottom: 12px; align-items: center; }
.key label { cursor: pointer; }
.key span::before { content: ""; display: inline-block; width: 12px; height: 12px; margin-right: 6px; vertical-align: -1px;
  border: 2px solid var(--box); }
.key .missed::before, .key .ignored::before { border-style: dashed; }
.pictures { display: grid; grid-auto-flow: dense; grid-template-columns: repeat(auto-fill, minmax(min(100%, 340px), 1fr)); gap: 16px; align-items: start; }
.picture { overflow: hidden; }
.picture.large { grid-column: 1 / -1; }
.frame { position: relative; }
.frame[role=button] { cursor: zoom-in; }
.frame img { display: block; width: 100%; height: auto; }
.frame svg { position: absolute; inset: 0; width: 100%; height: 100%; }
.right { --box: #25c466; } .confused { --box: #ffb020; } .false { --box: #ff4d4f; } .missed { --box: #ff4dd8; } .ignored { --box: #b8c0cc; }
.frame rect { fill: transparent; stroke: var(--box); stroke-width: 2px; vector-effect: non-scaling-stroke; }
.frame .truth rect { stroke-dasharray: 5 4; }
.frame text { fill: var(--box); font-weight: 700; paint-order: stroke; stroke: #000c; stroke-width: .22em; stroke-linejoin: round; }
.gallery:has(.show-truth:not(:checked)) .truth, .gallery:has(.show-found:not(:checked)) .found { display: none; }
.picture figcaption { padding: 8px 12px; font-size: .85rem; overflow-wrap: anywhere; }
.picture figcaption span { color: var(--soft); }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 300px), 1fr)); gap: 16px; align-items: start; }
.facts .card { padding: 14px 16px; }
dl { display: grid; grid-template-columns: auto 1fr; gap: 4px 14px; margin: 0; font-size: .9rem; }
dt { color: var(--soft); } dd { margin: 0; text-align: right; overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
details summary { cursor: pointer; padding: 12px 16px; font-weight: 600; }
details pre { margin: 0; padding: 0 16px 14px; overflow-x: auto; font-size: .8rem; line-height: 1.45; }
@media (max-width: 560px) {
  main { padding: 18px 12px 32px; }
  .chart .tick, .chart .label { font-size: 14.5px; }
  th, td { padding: 7px 9px; font-size: .9rem; }
}
@media print { .key label { display: none; } .card, .tile { break-inside: avoid; } }
)css";

const char kScript[] = R"js(
"use strict";
// A picture grows to the full width when it is clicked.
for (const frame of document.querySelectorAll(".frame")) {
  frame.setAttribute("role", "button");
  frame.addEventListener("click", () => frame.parentNode.classList.toggle("large"));
}
// Values under the pointer: each series carries "x,y,svgX,svgY" for its points.
for (const svg of document.querySelectorAll(".chart svg")) {
  const series = [...svg.querySelectorAll(".series")].map(g => ({
    name: g.dataset.name,
    points: g.dataset.values.trim().split(" ").filter(Boolean).map(p => p.split(",").map(Number))
  }));
  const line = document.createElementNS("http://www.w3.org/2000/svg", "line");
  line.setAttribute("class", "cursor");
  const tip = document.createElement("div");
  tip.className = "tip";
  const hide = () => { line.remove(); tip.remove(); };
  svg.addEventListener("pointerleave", hide);
  svg.addEventListener("pointermove", event => {
    const frame = svg.getBoundingClientRect(), box = svg.viewBox.baseVal;
    const at = (event.clientX - frame.left) / frame.width * box.width;
    const nearest = series.map(s => s.points.reduce((a, b) => Math.abs(b[2] - at) < Math.abs(a[2] - at) ? b : a, [0, 0, 1e9, 0]));
    const best = nearest.reduce((a, b) => Math.abs(b[2] - at) < Math.abs(a[2] - at) ? b : a, [0, 0, 1e9, 0]);
    if (best[2] === 1e9) return hide();
    for (const [k, v] of [["x1", best[2]], ["x2", best[2]], ["y1", 10], ["y2", box.height - 42]]) line.setAttribute(k, v);
    const short = v => String(Number(v.toPrecision(4)));
    tip.replaceChildren(svg.dataset.x + " " + short(best[0]));
    series.forEach((s, i) => {
      if (Math.abs(nearest[i][2] - best[2]) > 8) return;
      tip.append(document.createElement("br"), s.name + ": " + short(nearest[i][1]));
    });
    svg.append(line);
    svg.parentNode.append(tip);
    const card = svg.parentNode.getBoundingClientRect();
    const x = event.clientX - card.left;
    tip.style.left = Math.max(4, x + 14 + tip.offsetWidth > card.width ? x - tip.offsetWidth - 14 : x + 14) + "px";
    tip.style.top = (event.clientY - card.top + 12) + "px";
  });
}
)js";

}  // namespace maskfit::report
