// Values under the pointer, or step by step with the arrow keys; times in the reader's own zone.
(() => {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  const format = (value, bytes) => {
    if (!bytes) return Math.abs(value) >= 1000 ? value.toLocaleString("en") : String(+value.toPrecision(4));
    let unit = 0;
    while (Math.abs(value) >= 1024 && unit < units.length - 1) { value /= 1024; unit++; }
    return `${value.toFixed(unit ? 1 : 0)} ${units[unit]}`;
  };
  const element = (kind, name, parent) => {
    const made = parent.appendChild(document.createElement(kind));
    made.className = name;
    return made;
  };
  const nearest = (points, x) => {
    let low = 0, high = points.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (points[middle][0] < x) low = middle; else high = middle;
    }
    return x - points[low][0] < points[high][0] - x ? points[low] : points[high];
  };

  for (const plot of document.querySelectorAll(".plot")) {
    const chart = JSON.parse(plot.dataset.chart);
    const [left, right] = chart.x;
    const height = value => chart.log ? Math.log10(value) : value;
    const [low, high] = chart.y.map(height);
    const shown = chart.series.filter(s => s.points.length && !/event|mark/.test(s.class));
    const steps = [...new Set(shown.flatMap(s => s.points.map(p => p[0])))].sort((a, b) => a - b);
    const added = [];
    let at = -1;
    const hide = () => { added.splice(0).forEach(e => e.remove()); };
    const show = index => {
      hide();
      at = Math.max(0, Math.min(steps.length - 1, index));
      const step = steps[at], share = right > left ? (step - left) / (right - left) : .5;
      const cursor = element("div", "cursor", plot);
      cursor.style.left = `${100 * share}%`;
      const tip = element("div", "tip", plot);
      element("b", "", tip).textContent = `step ${step.toLocaleString("en")}`;
      added.push(cursor, tip);
      for (const series of shown) {
        const [x, y] = nearest(series.points, step);
        const line = element("span", series.class, tip);
        element("em", "", line).textContent = series.name;
        line.append(format(y, chart.bytes));
        const dot = element("i", `cursor-dot ${series.class}`, plot);
        dot.style.left = `${100 * (right > left ? (x - left) / (right - left) : .5)}%`;
        dot.style.top = `${100 * (1 - (height(y) - low) / (high - low))}%`;
        added.push(dot);
      }
      tip.style[share > .5 ? "right" : "left"] = `calc(${100 * (share > .5 ? 1 - share : share)}% + .8rem)`;
    };
    plot.addEventListener("pointermove", event => {
      const box = plot.getBoundingClientRect();
      const x = left + (right - left) * (event.clientX - box.left) / box.width;
      const found = nearest(steps.map(step => [step]), x);
      show(steps.indexOf(found[0]));
    });
    plot.addEventListener("pointerleave", hide);
    plot.addEventListener("blur", hide);
    plot.addEventListener("keydown", event => {
      const stride = event.shiftKey ? Math.ceil(steps.length / 20) : 1;
      if (event.key === "ArrowRight") show(at + stride);
      else if (event.key === "ArrowLeft") show(at < 0 ? steps.length - 1 : at - stride);
      else if (event.key === "Escape") hide();
      else return;
      event.preventDefault();
    });
  }
  for (const time of document.querySelectorAll("time[datetime]")) {
    time.title = time.textContent;
    time.textContent = new Date(time.dateTime).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
  }
})();
