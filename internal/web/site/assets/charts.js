// Draws the charts of the page from /api/charts, in the colours of the page, and again when something is recorded. Each chart has a table
// beside it, which needs no script.
"use strict";

(() => {
  const place = document.getElementById("charts");
  if (!place || typeof uPlot === "undefined") {
    return;
  }
  const span = document.getElementById("span");
  const address = "/api/charts?project=" + encodeURIComponent(place.dataset.project) + "&span=" + encodeURIComponent(span.value);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const plots = new Map();
  let last = [];

  // Lines differ by colour and by how they are drawn, so that none is told by its colour alone.
  const dashes = [[], [8, 4], [2, 3], [12, 3, 2, 3], [4, 8], [16, 4], [1, 6]];
  const colours = () => {
    const style = getComputedStyle(document.documentElement);
    const of = (name) => style.getPropertyValue(name).trim();
    return { line: [of("--good"), of("--bad"), of("--warn"), of("--soft"), of("--accent"), of("--ink"), of("--field")], ink: of("--soft"), grid: of("--edge") };
  };

  function draw(chart) {
    const el = place.querySelector('[data-chart="' + CSS.escape(chart.name) + '"]');
    if (!el) {
      return;
    }
    const data = [chart.times, ...chart.series.map((s) => s.values)];
    const names = chart.series.map((s) => s.name).join(" ");
    const old = plots.get(chart.name);
    if (old && old.names === names) {
      old.plot.setData(data);
      return;
    }
    if (old) {
      old.plot.destroy();
    }
    const c = colours();
    const axis = { stroke: c.ink, grid: { stroke: c.grid, width: 1 }, ticks: { stroke: c.grid, width: 1 } };
    const plot = new uPlot({
      width: el.clientWidth, height: 220,
      scales: { y: { range: (u, min, max) => [0, Math.max(1, max * 1.05)] } },
      axes: [axis, Object.assign({ size: 64, label: chart.unit, labelSize: 20 }, axis)],
      series: [{}].concat(chart.series.map((s, i) => ({ label: s.name, stroke: c.line[i % c.line.length], width: 2, dash: dashes[i % dashes.length], points: { show: true, size: 5 } }))),
    }, data, el);
    plots.set(chart.name, { plot, names });
  }

  function all(charts) {
    last = charts;
    charts.forEach(draw);
  }

  function anew() {
    for (const { plot } of plots.values()) {
      plot.destroy();
    }
    plots.clear();
    all(last);
  }

  let busy = false;
  let again = false;
  async function load() {
    if (busy) {
      again = true;
      return;
    }
    busy = true;
    try {
      const answer = await fetch(address, { headers: { Accept: "application/json" } });
      if (answer.ok) {
        all(await answer.json());
      }
    } catch {
      // The page says that it is not connected, and the next event loads again.
    }
    setTimeout(() => {
      busy = false;
      if (again) {
        again = false;
        load();
      }
    }, 1000); // a busy project: a chart of an hour changes little within a second
  }

  place.addEventListener("htmx:sseMessage", (e) => {
    if (String(e.detail.data).split(" ")[0] === place.dataset.project) {
      load();
    }
  });
  dark.addEventListener("change", anew);
  new ResizeObserver(() => {
    for (const [name, { plot }] of plots) {
      const el = place.querySelector('[data-chart="' + CSS.escape(name) + '"]');
      if (el && el.clientWidth !== plot.width) {
        plot.setSize({ width: el.clientWidth, height: 220 });
      }
    }
  }).observe(place);
  load();
})();
