// SPDX-License-Identifier: Apache-2.0
// An experiment: its figures with published numbers, and its points, each of which opens as a run.
'use strict';

/** Long form of a figure of results.json. */
function figure_rows(figure, at) {
  const rows = [];
  if (figure.kind === 'scatter')
    figure.series.forEach((series, s) => series.values.forEach((value, i) => rows.push(
      {group: String(i), x: series.x[i], series: series.name, value, key: at + 'series.' + s + '.values.' + i})));
  else figure.series.forEach((series, s) => figure.groups.forEach((group, g) => {
    const value = series.values[g], key = at + 'series.' + s + '.values.' + g;
    const place = {group, x: figure.x ? figure.x[g] : group, series: series.name};
    if (Array.isArray(value)) value.forEach((part, p) => rows.push({...place, part: figure.parts ? figure.parts[p] : String(p), value: part, key: key + '.' + p}));
    else if (value !== null && value !== undefined) rows.push({...place, value, key});
    const published = series.published && series.published[g];
    if (published !== null && published !== undefined) rows.push({...place, published, key: at + 'series.' + s + '.published.' + g});
  }));
  return rows;
}

function figure_spec(figure) {
  const has_published = figure.series.some(s => (s.published || []).some(p => p !== null));
  const names = figure.series.map(s => s.name);
  const colour = {field: 'series', type: 'nominal', title: null, sort: names, scale: {domain: names, range: kPalette}, legend: {orient: 'top', columns: kLegendColumns, labelLimit: 160}};
  const value = {type: 'quantitative', title: figure.label};
  if (figure.kind === 'stacks') {
    return {
      height: {step: 16}, mark: {type: 'bar', stroke: '#ffffff', strokeWidth: 0.5},
      encoding: {
        y: {field: 'group', type: 'nominal', sort: null, title: null}, yOffset: {field: 'series', sort: names}, x: {field: 'value', ...value, stack: 'zero'},
        color: {field: 'part', type: 'nominal', title: null, scale: {range: kPalette}, legend: {orient: 'top', columns: kLegendColumns}},
        tooltip: [{field: 'group'}, {field: 'series'}, {field: 'part'}, {field: 'value', format: '.4g'}]
      }
    };
  }
  if (figure.kind === 'lines') {
    const numbers = Array.isArray(figure.x);
    const x = {field: 'x', type: numbers ? 'quantitative' : 'ordinal', sort: null, title: figure.group_label || figure.across, scale: numbers ? {zero: false} : undefined};
    const tooltip = [{field: 'series'}, {field: 'x'}, {field: 'value', format: '.4g'}, {field: 'published', format: '.4g'}];
    return {
      height: 260,
      layer: [
        {mark: {type: 'line', point: true}, encoding: {x, y: {field: 'value', ...value}, color: colour, strokeDash: {...colour, scale: {domain: names}}, tooltip}},
        {mark: {type: 'point', shape: 'diamond', size: 70, strokeWidth: 2}, encoding: {x, y: {field: 'published', ...value}, color: colour, tooltip}}
      ].slice(0, has_published ? 2 : 1)
    };
  }
  if (figure.kind === 'scatter') {
    const x = {field: 'x', type: 'quantitative', title: figure.against, scale: {zero: false}};
    return {
      height: 260, mark: {type: 'circle', size: 18},
      encoding: {x, y: {field: 'value', ...value, scale: {zero: false}}, color: colour, tooltip: [{field: 'series'}, {field: 'x', format: '.4g'}, {field: 'value', format: '.4g'}]}
    };
  }
  const y = {field: 'group', type: 'nominal', sort: null, title: null, axis: {labelLimit: 130}};
  const offset = {field: 'series', type: 'nominal', sort: names};
  const tooltip = [{field: 'group'}, {field: 'series'}, {field: 'value', format: '.4g'}, {field: 'published', format: '.4g'}];
  return {
    height: {step: names.length > 1 ? 11 : 20},
    layer: [
      {mark: 'bar', encoding: {y, yOffset: offset, x: {field: 'value', ...value}, color: colour, tooltip}},
      {mark: {type: 'point', shape: 'diamond', size: 60, strokeWidth: 2, color: '#1b1f24'}, encoding: {y, yOffset: offset, x: {field: 'published', ...value}, tooltip}}
    ].slice(0, has_published ? 2 : 1)
  };
}

function figure_section(figure, at) {
  const rows = figure_rows(figure, at);
  const columns = [{name: figure.across || 'group', value: r => r.group}, {name: 'series', value: r => r.series}];
  if (figure.kind === 'stacks') columns.push({name: 'part', value: r => r.part});
  columns.push({name: figure.label || 'value', value: r => r.value, key: r => r.key});
  const published = rows.some(r => r.published !== undefined);
  if (published) columns.push({name: 'published', value: r => r.published, key: r => r.key});
  const comparisons = figure.comparisons || [];
  return section(figure.title || figure.name,
    chart(figure.title || figure.name, figure_spec(figure), rows, columns),
    published ? element('p', {class: 'note'}, 'Diamonds: published numbers.') : null,
    comparisons.length === 0 ? null : element('h3', {}, 'Published and ours'),
    comparisons.length === 0 ? null : table([
      {name: 'what', value: r => r.what}, {name: 'statistic', value: r => r.statistic},
      {name: 'published', value: r => r.published, key: r => at + 'comparisons.' + comparisons.indexOf(r) + '.published'},
      {name: 'ours', value: r => r.ours, key: r => at + 'comparisons.' + comparisons.indexOf(r) + '.ours'},
      {name: 'ours, geometric mean', value: r => r.ours_geometric_mean, key: r => at + 'comparisons.' + comparisons.indexOf(r) + '.ours_geometric_mean'},
      {name: 'source', value: r => r.source}
    ], comparisons, {caption: 'Published and ours'}));
}

/** Numbers of a report by which points are told apart, where they have them. */
const kPointColumns = [
  ['latency', 'summary.latency_us.mean', 'µs', 1], ['samples a second', 'summary.samples_per_second', '', 1],
  ['PE utilisation', 'utilisation.pe', '%', 100], ['HBM', 'utilisation.hbm', '%', 100], ['energy', 'energy.total_mj', 'mJ', 1]
];

function show_experiment(results) {
  const points = results.points.map((point, index) => ({point, index}));
  const open = r => {
    if (!r.point.report) return format(r.point.infeasible || 'no report');
    const link = element('a', {href: '#point-' + r.index}, 'open');
    return link;
  };
  const first = points.length > 0 ? points[0].point : {};
  const names = Object.keys(first).filter(k => !['set', 'report', 'infeasible'].includes(k));
  const swept = [...new Set(points.flatMap(r => Object.keys(r.point)))].filter(k => !names.includes(k) && !['set', 'report', 'infeasible'].includes(k));
  const columns = [...names, ...swept].map(name => ({name: name.replaceAll('_', ' '), value: r => r.point[name]}));
  for (const [name, key, unit, scale] of kPointColumns) {
    if (points.some(r => typeof lookup(r.point.report, key) === 'number'))
      columns.push({name, unit, scale, value: r => lookup(r.point.report, key), key: r => 'results.points.' + r.index + '.report.' + key});
  }
  if (points.some(r => lookup(r.point.report, 'bounds.bound')))
    columns.push({name: 'bound', value: r => lookup(r.point.report, 'bounds.bound')});
  columns.push({name: 'point', value: r => r.index, cell: open});
  return show(results.title || results.name, 'Experiment ' + results.name + ', ' + points.length + ' points' + (results.batches ? ', ' + results.batches + ' batches each' : ''), [
    results.ok === false ? section('Checks', element('p', {class: 'bad'}, 'Conservation checks of some points failed.')) : null,
    ...results.figures.map((figure, i) => figure_section(figure, 'results.figures.' + i + '.')),
    section('Points', table(columns, points, {caption: 'Points'}))
  ]);
}

function show_point(results, index) {
  const point = results.points[index];
  const [title, subtitle] = run_title(point.report);
  const back = element('section', {}, element('a', {href: '#'}, '← back to ' + results.name));
  return show(title, subtitle, [back, ...run_sections(point.report, 'results.points.' + index + '.report.')]);
}
