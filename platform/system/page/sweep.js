// SPDX-License-Identifier: Apache-2.0
// A sweep: its points, sortable, and one objective against another with the Pareto front.
'use strict';

function show_sweep(sweep) {
  const rows = sweep.rows.map((row, index) => ({...row, index}));
  const done = rows.filter(r => r.state === 'done');
  const numeric = sweep.columns.filter(c => done.some(r => typeof r[c] === 'number') && !['number', 'front', 'seconds'].includes(c));
  const objectives = sweep.objectives.map(o => o.name);
  const place = element('div');
  const axes = {x: objectives[0] || numeric[0], y: objectives[1] || numeric.find(c => c !== objectives[0]) || numeric[0], by: 'design'};
  const fill = () => place.replaceChildren(chart(axes.y + ' against ' + axes.x, {
    height: 340, mark: {type: 'point', filled: true, opacity: 0.85},
    encoding: {
      x: {field: 'x', type: 'quantitative', title: axes.x, scale: {zero: false}}, y: {field: 'y', type: 'quantitative', title: axes.y, scale: {zero: false}},
      color: {field: 'by', type: 'nominal', title: axes.by, scale: {range: kPalette}},
      shape: {field: 'front', type: 'nominal', title: 'Pareto front', scale: {domain: ['on', 'off'], range: ['diamond', 'circle']}},
      size: {condition: {test: 'datum.front === "on"', value: 130}, value: 40},
      tooltip: [{field: 'number'}, {field: 'design'}, {field: 'x', title: axes.x}, {field: 'y', title: axes.y}, {field: 'front'}]
    }
  }, done.map(r => ({number: r.number, design: r.design, x: r[axes.x], y: r[axes.y], by: String(r[axes.by]), front: r.front ? 'on' : 'off', index: r.index})), [
    {name: 'point', value: r => r.number}, {name: axes.x, value: r => r.x, key: r => 'sweep.rows.' + r.index + '/' + axes.x},
    {name: axes.y, value: r => r.y, key: r => 'sweep.rows.' + r.index + '/' + axes.y}, {name: 'front', value: r => r.front}
  ]));
  const choices = names => names.map(n => [n, n]);
  const with_first = (names, firstname) => [firstname, ...names.filter(n => n !== firstname)];
  const counts = {};
  for (const row of rows) counts[row.state] = (counts[row.state] || 0) + 1;
  if (done.length > 0) fill();
  const columns = sweep.columns.filter(c => c !== 'key').map(name => ({name, value: r => r[name], key: r => 'sweep.rows.' + r.index + '/' + name}));
  columns.push({name: 'report', value: r => r.key, cell: r => element('details', {}, element('summary', {}, 'how to get it'),
    element('code', {}, 'sy-sweep query --store ' + sweep.store + " \"SELECT report FROM point WHERE key = '" + r.key + "'\""))});
  return show(sweep.title, 'Sweep ' + sweep.name + ', ' + rows.length + ' points', [
    section('Summary', figures(Object.entries(counts).map(([name, value]) => ({name, value, key: 'sweep.states.' + name})))),
    done.length === 0 ? null : section('Objectives',
      picker('Across', choices(with_first(numeric, axes.x)), v => { axes.x = v; fill(); }), picker('Up', choices(with_first(numeric, axes.y)), v => { axes.y = v; fill(); }),
      picker('Colour', choices(with_first(sweep.columns.filter(c => !objectives.includes(c) && c !== 'key'), 'design')), v => { axes.by = v; fill(); }), place),
    section('Points', table(columns, rows, {caption: 'Points', mark: r => (r.front ? 'differs' : '')}),
      element('p', {class: 'note'}, 'Marked: points on the Pareto front of their network.'))
  ]);
}
