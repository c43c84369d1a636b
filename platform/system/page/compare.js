// SPDX-License-Identifier: Apache-2.0
// Two or more reports side by side; what differs is marked.
'use strict';

function show_compare(reports, names) {
  const skipped = /^(tiles|links|operators|batches|conservation|phases|counters|values)\.|^bounds\.stages\.|^(format|version)$/;
  const known = new Map();
  reports.forEach((report, i) => leaves(report).filter(l => !skipped.test(l.key)).forEach(l => {
    if (!known.has(l.key)) known.set(l.key, new Array(reports.length).fill(undefined));
    known.get(l.key)[i] = l.value;
  }));
  const rows = [...known.entries()].map(([key, values]) => ({key, values, differs: values.some(v => v !== values[0])}));
  const cell = (r, i) => shown(r.values[i] === undefined ? null : r.values[i], 'reports.' + i + '.' + r.key);
  const change = (r, i) => (typeof r.values[i] === 'number' && typeof r.values[0] === 'number' && r.values[0] !== 0 ? r.values[i] / r.values[0] - 1 : undefined);
  const columns = [{name: 'key', value: r => r.key}, ...names.flatMap((name, i) => {
    const own = {name, value: r => r.values[i], cell: r => cell(r, i)};
    if (i === 0) return [own];
    return [own, {
      name: 'against the first', unit: '%', scale: 100, value: r => change(r, i),
      cell: r => {
        const difference = change(r, i);
        if (difference === undefined) return r.values[i] === r.values[0] ? '' : 'differs';
        return element('span', {class: difference > 0 ? 'more' : difference < 0 ? 'less' : null}, difference === 0 ? '' : format(100 * difference));
      }
    }];
  })];
  const place = element('div');
  const fill = which => place.replaceChildren(table(columns, rows.filter(r => which === 'all' || r.differs), {caption: 'Figures', mark: r => (r.differs ? 'differs' : '')}));
  fill('differences');
  const bounded = reports.map((report, i) => ({report, i})).filter(r => r.report.bounds);
  const energy = reports.flatMap((report, i) => Object.entries(lookup(report, 'energy.parts_mj') || {}).map(([part, mj]) => ({report: names[i], part, mj, key: 'reports.' + i + '.energy.parts_mj.' + part})));
  return show('Comparison of ' + names.length + ' reports', names.join(' | '), [
    section('Differences', picker('Show', [['differences', 'what differs'], ['all', 'everything']], fill), place),
    bounded.length === 0 ? null : section('What bounds them', share_chart('The time of all tiles, waits followed to their causes',
      bounded.map(r => [names[r.i], r.report.bounds.causes, 'reports.' + r.i + '.bounds.causes']), {bars: 'report', height: 34}),
      share_chart('The time of all tiles, as counted', bounded.map(r => [names[r.i], r.report.bounds.chip, 'reports.' + r.i + '.bounds.chip']), {bars: 'report', height: 34})),
    energy.length === 0 ? null : section('Energy', chart('Energy by part', {
      height: {step: 14}, mark: 'bar',
      encoding: {y: {field: 'part', type: 'nominal', sort: null, title: null}, yOffset: {field: 'report'}, x: {field: 'mj', type: 'quantitative', title: 'mJ'},
                 color: {field: 'report', type: 'nominal', title: null, scale: {range: kPalette}, legend: {orient: 'top'}}, tooltip: [{field: 'report'}, {field: 'part'}, {field: 'mj'}]}
    }, energy, [{name: 'report', value: r => r.report}, {name: 'part', value: r => r.part}, {name: 'energy', unit: 'mJ', value: r => r.mj, key: r => r.key}]))
  ]);
}
