// What a page of 'ringscope report' can do with JavaScript: other colours, tables that are sorted
// and filtered, charts that are zoomed. Everything is there without it, too.
(() => {
  'use strict';

  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const withCommas = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, ',');
  const plural = (count, noun) => `${withCommas(count)} ${noun}${count === 1 ? '' : 's'}`;

  // Colours: as the system has them, light, dark.

  const colours = document.getElementById('colours');
  const themes = [['', 'as the system'], ['light', 'light'], ['dark', 'dark']];
  let theme = 0;
  colours.hidden = false;
  colours.addEventListener('click', () => {
    theme = (theme + 1) % themes.length;
    const [name, words] = themes[theme];
    if (name) document.documentElement.dataset.theme = name;
    else delete document.documentElement.dataset.theme;
    colours.textContent = `Colours: ${words}`;
  });

  // Tables: a button in each column's heading.

  const valueOf = (row, column) => {
    const cell = row.cells[column];
    if (!cell) return '';
    return 'value' in cell.dataset ? Number(cell.dataset.value) : cell.textContent.trim();
  };
  const compare = (a, b) => {
    if (typeof a === 'number' && typeof b === 'number') return a - b;
    // Numbers before texts that stand for none.
    if (typeof a !== typeof b) return typeof a === 'number' ? -1 : 1;
    return a.localeCompare(b, 'en', { numeric: true });
  };

  const sortTable = (table, column, descending) => {
    const isGrouped = table.classList.contains('grouped');
    const parent = isGrouped ? table : table.tBodies[0];
    const items = isGrouped ? [...table.tBodies] : [...parent.rows];
    const rowOf = (item) => (isGrouped ? item.rows[0] : item);
    const keyed = items.map((item) => [valueOf(rowOf(item), column), item]);
    keyed.sort(([a], [b]) => (descending ? compare(b, a) : compare(a, b)));
    parent.append(...keyed.map(([, item]) => item));
  };

  for (const table of all('table.sortable')) {
    const headings = [...table.tHead.rows[0].cells];
    headings.forEach((heading, column) => {
      if (!heading.textContent.trim()) return;
      const button = document.createElement('button');
      button.type = 'button';
      button.append(...heading.childNodes);
      heading.append(button);
      button.addEventListener('click', () => {
        const before = heading.getAttribute('aria-sort');
        // Numbers are looked at from the largest on.
        const isNumber = heading.classList.contains('number');
        const descending = before ? before === 'ascending' : isNumber;
        for (const other of headings) other.removeAttribute('aria-sort');
        heading.setAttribute('aria-sort', descending ? 'descending' : 'ascending');
        sortTable(table, column, descending);
      });
    });
  }

  // The filter of the gaps.

  const filter = document.getElementById('gap-filter');
  if (filter) {
    const table = document.getElementById('gap-table');
    const packetsColumn = 3;
    const gaps = [...table.tBodies].map((body) => ({
      body,
      text: body.textContent.toLowerCase(),
      cause: body.dataset.cause,
      packets: valueOf(body.rows[0], packetsColumn),
    }));
    const output = filter.querySelector('output');
    const apply = () => {
      const text = filter.elements.text.value.trim().toLowerCase();
      const cause = filter.elements.cause.value;
      const least = Number(filter.elements.least.value);
      let shown = 0;
      for (const gap of gaps) {
        const isShown =
          gap.text.includes(text) && (!cause || gap.cause === cause) && gap.packets >= least;
        gap.body.hidden = !isShown;
        if (isShown) ++shown;
      }
      output.textContent = `${withCommas(shown)} of ${plural(gaps.length, 'gap')} shown`;
    };
    filter.addEventListener('input', apply);
    filter.addEventListener('submit', (event) => event.preventDefault());
    // The fields are reset after the event.
    filter.addEventListener('reset', () => setTimeout(apply));
    for (const button of all('[data-details]', filter)) {
      button.addEventListener('click', () => {
        const open = button.dataset.details === 'open';
        for (const gap of gaps)
          if (!gap.body.hidden) gap.body.querySelector('details').open = open;
      });
    }
    filter.hidden = false;
    apply();
  }

  // Charts: all show the same part of the time.

  /// As ringscope prints durations.
  const duration = (ns) => {
    if (ns < 1e3) return `${Math.round(ns)} ns`;
    if (ns < 1e6) return `${(ns / 1e3).toFixed(1)} us`;
    if (ns < 1e9) return `${(ns / 1e6).toFixed(1)} ms`;
    if (ns < 60e9) return `${(ns / 1e9).toFixed(3)} s`;
    const seconds = Math.floor(ns / 1e9);
    if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
    return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
  };

  const numbers = (text) => (text ? text.split(' ').map(Number) : []);

  class Charts {
    constructor(root) {
      this.root = root;
      this.byRecord = root.dataset.axis === 'record';
      this.first = Number(root.dataset.first);
      this.length = Number(root.dataset.length);
      this.lanes = all('.lane', root).map((figure) => ({
        svg: figure.querySelector('svg'),
        sum: figure.querySelector('.lane-sum'),
        written: numbers(figure.dataset.written),
        lost: numbers(figure.dataset.lost),
        whole: figure.querySelector('.lane-sum').textContent,
      }));
      this.intervals = this.lanes[0].written.length;
      this.axes = all('.chart-axis', root);
      this.zoom = root.querySelector('.zoom');
      this.output = this.zoom.querySelector('output');
      this.from = 0;
      this.to = this.intervals;
      for (const button of all('button', this.zoom))
        button.addEventListener('click', () => this.step(button.dataset.zoom));
      for (const lane of this.lanes) this.selectOn(lane.svg);
      this.zoom.hidden = false;
      root.classList.add('zoomable');
      this.show(0, this.intervals);
    }

    place(interval) {
      const offset = (this.length / this.intervals) * interval;
      return this.byRecord ? `record ${Math.floor(this.first + offset)}` : duration(offset);
    }

    step(action) {
      const width = this.to - this.from;
      const middle = (this.from + this.to) / 2;
      if (action === 'in') this.show(middle - width / 4, middle + width / 4);
      if (action === 'out') this.show(middle - width, middle + width);
      if (action === 'left') this.show(this.from - width / 2, this.to - width / 2);
      if (action === 'right') this.show(this.from + width / 2, this.to + width / 2);
      if (action === 'all') this.show(0, this.intervals);
    }

    /// Shows whole intervals, at least four.
    show(from, to) {
      const least = Math.min(4, this.intervals);
      const width = Math.max(least, Math.min(Math.round(to - from), this.intervals));
      this.from = Math.max(0, Math.min(Math.round(from), this.intervals - width));
      this.to = this.from + width;
      const isWhole = width === this.intervals;
      for (const lane of this.lanes) {
        lane.svg.setAttribute('viewBox', `${this.from} 0 ${width} 100`);
        lane.sum.textContent = isWhole ? lane.whole : this.sumOf(lane);
      }
      for (const axis of this.axes) {
        [...axis.children].forEach((label, i, labels) => {
          label.textContent = this.place(this.from + (width * i) / (labels.length - 1));
        });
      }
      this.output.textContent = `${this.place(this.from)} to ${this.place(this.to)}`;
      const disabled = {
        in: width <= least, out: isWhole, all: isWhole,
        left: this.from === 0, right: this.to === this.intervals,
      };
      for (const button of all('button', this.zoom))
        button.disabled = disabled[button.dataset.zoom];
    }

    sumOf(lane) {
      const sum = (list) => list.slice(this.from, this.to).reduce((a, b) => a + b, 0);
      const lost = sum(lane.lost);
      const written = sum(lane.written);
      const share = written ? ` (${((100 * lost) / written).toFixed(1)}%)` : '';
      return `${withCommas(lost)} of ${plural(written, 'packet')} lost in this part${share}`;
    }

    /// A part can be chosen by dragging over a chart.
    selectOn(svg) {
      const at = (event) => {
        const box = svg.getBoundingClientRect();
        const share = Math.max(0, Math.min(1, (event.clientX - box.left) / box.width));
        return this.from + share * (this.to - this.from);
      };
      let start = null;
      let mark = null;
      const end = () => {
        if (mark) mark.remove();
        start = mark = null;
      };
      svg.addEventListener('pointerdown', (event) => {
        if (event.button !== 0) return;
        end();
        start = at(event);
        mark = document.createElementNS(svg.namespaceURI, 'rect');
        mark.setAttribute('class', 'selection');
        mark.setAttribute('y', '0');
        mark.setAttribute('height', '100');
        svg.append(mark);
        svg.setPointerCapture(event.pointerId);
      });
      svg.addEventListener('pointermove', (event) => {
        if (!mark) return;
        const now = at(event);
        mark.setAttribute('x', Math.min(start, now));
        mark.setAttribute('width', Math.abs(now - start));
      });
      svg.addEventListener('pointerup', (event) => {
        if (!mark) return;
        const [from, to] = [Math.min(start, at(event)), Math.max(start, at(event))];
        end();
        // A click alone chooses nothing.
        if (to - from >= (this.to - this.from) / 100) this.show(from, to);
      });
      svg.addEventListener('pointercancel', end);
    }
  }

  for (const root of all('.charts')) new Charts(root);

  // What is folded on a screen is open on paper.

  let opened = [];
  addEventListener('beforeprint', () => {
    opened = all('details:not([open])');
    for (const details of opened) details.open = true;
  });
  addEventListener('afterprint', () => {
    for (const details of opened) details.open = false;
    opened = [];
  });
})();
