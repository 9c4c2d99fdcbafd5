// Time series with uPlot. <div class="plot" data-chart data-url="…">; the address answers
// {"start": instant, "step_s": 60, "unit": "%", "max": 100, "series": [{"label": "GPU 0", "values": [97, null]}]}
// A null is a gap and drawn as one. data-model-class="model-h100" (or a series' own "css_class") gives the model's hue;
// charts with the same data-sync share their cursor; data-every="30" asks again; data-x="off" leaves the time axis to the
// chart below. An answer may say how much was "held" in each step: where that is 0 a null is no gap, nothing was there.
// <… data-chart-now="id of the chart"> gets the newest value.
// "is_stacked" answers are areas on each other, with "lines" ({"label", "kind", "values"}: stepped, null is none) over them and
// "gaps" ([first, last] step) hatched on top; "at" is when they were right. Elements that name the chart follow it:
// data-chart-keys gets the legend with the values under the cursor, data-chart-at the time, data-chart-simulated shows.
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

  const following = (host, name) => document.querySelector(`[data-chart-${name}="${host.id}"]`);

  // Each area from zero to its sum with those below it; the tallest is drawn first.
  const stacked = (data) => {
    let below = null;
    const sums = data.series.map((series) => {
      below = series.values.map((value, index) => (value ?? 0) + (below ? below[index] : 0));
      return below;
    });
    return sums.reverse();
  };

  const lineLook = (host, line) =>
    line.kind === "limit" ? { stroke: colour(host, "var(--text-3)"), width: 1.25, dash: [4, 3] } : { stroke: colour(host, "var(--text)"), width: 1.5 };

  const stackSeries = (host, data) => {
    const paths = uPlot.paths.stepped({ align: 1 });
    const points = { show: false };
    const areas = [...data.series].reverse().map((series) => {
      const hue = modelHue(host, series.css_class);
      return { label: series.label, stroke: hue, width: 0, fill: hue.replace("rgb(", "rgba(").replace(")", ", 0.85)"), paths, points };
    });
    return [...areas, ...data.lines.map((line) => ({ label: line.label, ...lineLook(host, line), paths, points }))];
  };

  // What the plot is called at its right edge: each name at its own height, moved apart where they would touch.
  const endLabels = (data, sums) => {
    const last = (values) => values.at(-1);
    const areas = data.series.map((series, index) => {
      const top = last(sums[data.series.length - 1 - index]);
      return { text: `${series.label} ${figure(last(series.values))}`, value: last(series.values) ? top - last(series.values) / 2 : null };
    });
    const lines = data.lines.map((line) => ({ text: `${line.label} ${last(line.values)}`, value: last(line.values), isStrong: line.kind !== "limit" }));
    return [...areas, ...lines].filter((label) => label.value !== null && label.value !== undefined);
  };

  const WIDE = 640;
  const LINE = 14;

  const stackPlugin = (host, data, sums) => {
    const tile = hatch(host);
    const ink = { weak: colour(host, "var(--text-2)"), strong: colour(host, "var(--text)"), ground: colour(host, "var(--bg)") };
    const font = (weight) => `${weight} ${11 * devicePixelRatio}px ${getComputedStyle(document.body).fontFamily}`;

    const gaps = (u) => {
      for (const [first, last] of data.gaps ?? []) {
        const from = u.valToPos(u.data[0][first], "x", true);
        const to = Math.max(u.valToPos(u.data[0][Math.min(last + 1, u.data[0].length - 1)], "x", true), from + 3);
        u.ctx.globalAlpha = 0.7;
        u.ctx.fillStyle = ink.ground;
        u.ctx.fillRect(from, u.bbox.top, to - from, u.bbox.height);
        u.ctx.globalAlpha = 1;
        u.ctx.fillStyle = u.ctx.createPattern(tile, "repeat");
        u.ctx.fillRect(from, u.bbox.top, to - from, u.bbox.height);
      }
    };
    const names = (u) => {
      if (host.clientWidth < WIDE) return;
      const placed = endLabels(data, sums).map((label) => ({ ...label, y: u.valToPos(label.value, "y", true) }));
      placed.sort((a, b) => a.y - b.y);
      placed.forEach((label, index) => {
        if (index) label.y = Math.max(label.y, placed[index - 1].y + LINE * devicePixelRatio);
        u.ctx.font = font(label.isStrong ? 600 : 400);
        u.ctx.fillStyle = label.isStrong ? ink.strong : ink.weak;
        u.ctx.textBaseline = "middle";
        u.ctx.textAlign = "left";
        u.ctx.fillText(label.text, u.bbox.left + u.bbox.width + 8 * devicePixelRatio, label.y);
      });
    };
    return {
      hooks: {
        draw: (u) => {
          gaps(u);
          names(u);
        },
        setCursor: (u) => showKeys(host, data, u.cursor.idx),
      },
    };
  };

  const figure = (value) => (value === null || value === undefined ? "–" : String(Math.round(value * 10) / 10));

  const showKeys = (host, data, index) => {
    const keys = following(host, "keys");
    if (!keys) return;
    const at = index ?? data.length - 1;
    const parts = [...data.series, ...data.lines.filter((line) => line.values.some((value) => value !== null))].map((part) => {
      const key = document.createElement("span");
      key.className = `legend-item ${part.css_class ?? ""}`;
      const mark = document.createElement("i");
      mark.className = part.kind ? `legend-${part.kind}` : "legend-area";
      key.append(mark, `${part.label} ${figure(part.values[Math.min(at, part.values.length - 1)])}`);
      return key;
    });
    if (data.gaps?.length) {
      const key = document.createElement("span");
      key.className = "legend-item";
      const mark = document.createElement("i");
      mark.className = "legend-gap";
      key.append(mark, data.gap_label);
      parts.push(key);
    }
    keys.replaceChildren(...parts);
  };

  const showStack = (host, data) => {
    const simulated = following(host, "simulated");
    if (simulated) simulated.hidden = !data.is_simulated;
    showKeys(host, data, null);
  };

  // When the figures were right, and that they no longer are.
  const showAt = (host, isFresh) => {
    const target = following(host, "at");
    if (!target || !host.data?.at) return;
    const time = new Date(host.data.at).toLocaleTimeString("en-GB", { hour12: false, timeZone: zone });
    target.textContent = `${isFresh ? target.dataset.word : target.dataset.staleWord} ${time}`;
    target.classList.toggle("is-late", !isFresh);
  };

  const drawStack = (host, data) => {
    const start = Date.parse(data.start) / 1000;
    const rows = [...data.series, ...data.lines];
    data.length = Math.max(0, ...rows.map((row) => row.values.length));
    // The last step ends now: its value is drawn up to here.
    const times = Array.from({ length: data.length }, (_, index) => start + index * data.step_s);
    times.push(Math.max(times.at(-1) + 1, Date.parse(data.at) / 1000));
    const sums = stacked(data);
    const columns = [...sums, ...data.lines.map((line) => line.values)].map((values) => [...values, values.at(-1)]);
    const shown = options(host, data);
    shown.plugins = [stackPlugin(host, data, sums)];
    shown.padding = [null, host.clientWidth < WIDE ? 24 : 116, null, null];
    shown.series = [shown.series[0], ...stackSeries(host, data)];
    shown.legend = { show: false };
    showStack(host, data);
    host.chart = new uPlot(shown, [times, ...columns], host);
  };

  const showNow = (host, data) => {
    const target = host.id && document.querySelector(`[data-chart-now="${host.id}"]`);
    if (!target) return;
    const known = data.series[0].values.filter((value) => value !== null);
    target.textContent = known.length ? `${Math.round(known.at(-1) * 10) / 10} ${data.unit ?? ""}` : "–";
  };

  // Axis labels of 24 hours; a label of the second line where a new day begins.
  // Chinese writes the month first and by its number (kernel/formats.py does the same on the server).
  const isChinese = document.documentElement.lang.startsWith("zh");
  const MONTH = isChinese ? "{M}\u202f月" : "{MMM}";
  const DATE = isChinese ? `${MONTH}\u202f{D}\u202f日` : "{D} {MMM}";
  const DAY = `\n${DATE}`;
  const TIMES = [
    [86400 * 28, MONTH, isChinese ? "\n{YYYY}\u202f年" : "\n{YYYY}", null, null, null, null, null, 1],
    [86400, DATE, null, null, null, null, null, null, 1],
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
      { value: isChinese ? `${DATE} {HH}:{mm}` : "{D} {MMM}, {HH}:{mm}", label: host.dataset.timeLabel ?? "" },
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
    const known = [...data.series, ...(data.lines ?? [])].some((series) => series.values.some((value) => value !== null && (value || !data.is_stacked)));
    if (!known) {
      const line = document.createElement("p");
      line.className = "help";
      line.textContent = host.dataset.empty ?? "";
      host.append(line);
      return;
    }
    if (data.is_stacked) {
      drawStack(host, data);
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
      showAt(host, true);
      host.removeAttribute("data-failed");
    } catch {
      // What was drawn stays; the attribute lets the page say that it is no longer current.
      host.dataset.failed = "yes";
      showAt(host, false);
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
