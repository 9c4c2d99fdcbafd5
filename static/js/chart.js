// Time series with uPlot. <div class="plot" data-chart data-url="…">; the address answers
// {"start": instant, "step_s": 60, "unit": "%", "max": 100, "series": [{"label": "GPU 0", "values": [97, null]}]}
// A null is a gap and drawn as one. data-model-class="model-h100" (or a series' own "css_class") gives the model's hue;
// charts with the same data-sync share their cursor; data-every="30" asks again; data-x="off" leaves the time axis to the
// chart below. An answer may say how much was "held" in each step: where that is 0 a null is no gap, nothing was there.
// <… data-chart-now="id of the chart"> gets the newest value.
(() => {
  const HUES = ["--accent", "--gain", "--waiting", "--paused", "--loss", "--text-2"];
  const zone = document.documentElement.dataset.zone || "UTC";

  // Custom properties hold light-dark(); a probe's own colour is what the browser made of it.
  const colour = (host, value) => {
    const probe = document.createElement("span");
    probe.className = "chart-probe";
    host.append(probe);
    probe.style.color = value;
    const found = getComputedStyle(probe).color;
    probe.remove();
    return found;
  };

  const modelHue = (host, model) => {
    const probe = document.createElement("span");
    probe.className = model;
    host.append(probe);
    const found = colour(probe, "var(--model-chart)");
    probe.remove();
    return found;
  };

  // Where no series has a value the time is hatched: no data is not zero.
  const hatch = (host) => {
    const tile = document.createElement("canvas");
    tile.width = tile.height = 6;
    const pen = tile.getContext("2d");
    pen.strokeStyle = colour(host, "var(--line-strong)");
    pen.beginPath();
    for (const shift of [-6, 0, 6]) {
      pen.moveTo(shift, 6);
      pen.lineTo(shift + 6, 0);
    }
    pen.stroke();
    return tile;
  };

  const gapsOf = (data) => {
    const gaps = [];
    const length = Math.max(...data.series.map((series) => series.values.length));
    for (let index = 0; index < length; index += 1) {
      if (data.held?.[index] === 0 || data.series.some((series) => series.values[index] !== null)) continue;
      if (gaps.at(-1)?.last === index - 1) gaps.at(-1).last = index;
      else gaps.push({ first: index, last: index });
    }
    return gaps;
  };

  const gapPlugin = (host, data) => {
    const tile = hatch(host);
    const gaps = gapsOf(data);
    const draw = (u) => {
      u.ctx.fillStyle = u.ctx.createPattern(tile, "repeat");
      for (const { first, last } of gaps) {
        const from = u.valToPos(u.data[0][Math.max(first - 1, 0)], "x", true);
        const to = u.valToPos(u.data[0][Math.min(last + 1, u.data[0].length - 1)], "x", true);
        u.ctx.fillRect(from, u.bbox.top, to - from, u.bbox.height);
      }
    };
    return { hooks: { drawClear: draw } };
  };

  // One value has no line, and the line of two is hardly one pixel long over a day: they get points.
  const isolated = (u, index) => {
    const values = u.data[index];
    const short = [];
    for (let first = 0; first < values.length; first += 1) {
      let end = first;
      while (values[end] != null) end += 1;
      for (let at = first; at < end && end - first <= 2; at += 1) short.push(at);
      first = end;
    }
    return short;
  };

  const showNow = (host, data) => {
    const target = host.id && document.querySelector(`[data-chart-now="${host.id}"]`);
    if (!target) return;
    const known = data.series[0].values.filter((value) => value !== null);
    target.textContent = known.length ? `${Math.round(known.at(-1) * 10) / 10} ${data.unit ?? ""}` : "–";
  };

  // Axis labels of 24 hours; a label of the second line where a new day begins.
  const DAY = "\n{D} {MMM}";
  const TIMES = [
    [86400 * 28, "{MMM}", "\n{YYYY}", null, null, null, null, null, 1],
    [86400, "{D} {MMM}", null, null, null, null, null, null, 1],
    [60, "{HH}:{mm}", null, null, DAY, null, null, null, 1],
    [1, "{HH}:{mm}:{ss}", null, null, DAY, null, null, null, 1],
  ];

  const axis = (host, extra) => ({
    stroke: colour(host, "var(--text-3)"),
    font: `11px ${getComputedStyle(document.body).fontFamily}`,
    grid: { stroke: colour(host, "var(--line)"), width: 1 },
    ticks: { show: false },
    ...extra,
  });

  const options = (host, data) => ({
    width: host.clientWidth,
    height: Number(host.dataset.height) || 160,
    padding: [null, 24, null, null],
    plugins: [gapPlugin(host, data)],
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), zone),
    cursor: { sync: host.dataset.sync ? { key: host.dataset.sync } : undefined, points: { size: 6 } },
    legend: { show: host.dataset.legend !== "off", live: true },
    scales: { y: { range: (u, low, high) => [0, data.max ?? Math.max(high || 0, 1) * 1.08] } },
    axes: [axis(host, { show: host.dataset.x !== "off", space: 80, values: TIMES }), axis(host, { size: 56, space: 28, values: (u, ticks) => ticks.map((tick) => `${tick}`) })],
    series: [
      { value: "{D} {MMM}, {HH}:{mm}", label: host.dataset.timeLabel ?? "" },
      ...data.series.map((series, index) => {
        const model = series.css_class ?? (data.series.length === 1 ? host.dataset.modelClass : "");
        const hue = model ? modelHue(host, model) : colour(host, `var(${HUES[index % HUES.length]})`);
        return {
          label: series.label,
          stroke: hue,
          width: 1.25,
          spanGaps: false,
          fill: data.series.length === 1 ? hue.replace("rgb(", "rgba(").replace(")", ", 0.1)") : undefined,
          points: { show: true, size: 4, fill: hue, filter: isolated },
          value: (u, value) => (value === null || value === undefined ? "–" : `${Math.round(value * 10) / 10} ${data.unit ?? ""}`),
        };
      }),
    ],
  });

  const draw = (host, data) => {
    host.chart?.destroy();
    host.replaceChildren();
    const start = Date.parse(data.start) / 1000;
    const length = Math.max(0, ...data.series.map((series) => series.values.length));
    showNow(host, data);
    const known = data.series.some((series) => series.values.some((value) => value !== null));
    if (!known) {
      const line = document.createElement("p");
      line.className = "help";
      line.textContent = host.dataset.empty ?? "";
      host.append(line);
      return;
    }
    const times = Array.from({ length }, (_, index) => start + index * data.step_s);
    host.chart = new uPlot(options(host, data), [times, ...data.series.map((series) => series.values)], host);
  };

  const load = async (host) => {
    try {
      const answer = await fetch(host.dataset.url, { credentials: "same-origin", headers: { Accept: "application/json" } });
      if (!answer.ok) throw new Error(String(answer.status));
      host.data = await answer.json();
      draw(host, host.data);
      host.removeAttribute("data-failed");
    } catch {
      // What was drawn stays; the attribute lets the page say that it is no longer current.
      host.dataset.failed = "yes";
      if (!host.chart) {
        const line = document.createElement("p");
        line.className = "help";
        line.textContent = host.dataset.error ?? "";
        host.replaceChildren(line);
      }
    }
    const every = Number(host.dataset.every);
    if (every > 0 && host.isConnected) setTimeout(() => load(host), every * 1000);
  };

  const start = () => {
    for (const host of document.querySelectorAll("[data-chart]:not([data-started])")) {
      host.dataset.started = "yes";
      new ResizeObserver(() => host.chart?.setSize({ width: host.clientWidth, height: host.chart.height })).observe(host);
      load(host);
    }
  };
  document.addEventListener("sluice:theme", () => {
    for (const host of document.querySelectorAll("[data-chart]")) if (host.data) draw(host, host.data);
  });
  document.addEventListener("htmx:afterSettle", start);
  start();
})();
