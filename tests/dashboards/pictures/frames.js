// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// From Prometheus' answers to the data frames that Grafana's panels draw: what the data source and the panel runner of
// Grafana do.
import {
  FieldType,
  getDisplayProcessor,
  standardTransformers,
  standardTransformersRegistry,
  stringToJsRegex,
  transformDataFrame,
} from '@grafana/data';
import { firstValueFrom } from 'rxjs';

// Some have two names for the same transformation.
const transformations = new Map(Object.values(standardTransformers).map((one) => [one.id, one]));
standardTransformersRegistry.setInit(() =>
  [...transformations.values()].map((transformation) => ({
    id: transformation.id,
    name: transformation.name,
    transformation,
  })),
);

function frame(fields, refId) {
  return {
    refId,
    fields: fields.map((field) => ({ config: {}, ...field })),
    length: fields[0]?.values.length ?? 0,
  };
}

function legendText(format, labels) {
  return format.replace(/\{\{(\w+)\}\}/g, (_, label) => labels[label] ?? '');
}

function number(text) {
  return text === undefined ? null : Number(text);
}

// One frame for each series, all on the same times; what is missing is null.
function seriesFrames(target, answer, times) {
  return answer.map((series) => {
    const values = new Map((series.values ?? [series.value]).map(([time, value]) => [time * 1000, value]));
    const at = series.values ? times : [...values.keys()];
    const name = legendText(target.legendFormat, series.metric) || 'Value';
    return frame(
      [
        { name: 'Time', type: FieldType.time, values: at },
        {
          name: 'Value',
          type: FieldType.number,
          labels: series.metric,
          values: at.map((time) => number(values.get(time))),
          config: { displayNameFromDS: name },
        },
      ],
      target.refId,
    );
  });
}

function tableFrame(target, answer, alone) {
  const labels = [...new Set(answer.flatMap((series) => Object.keys(series.metric)))].sort();
  return frame(
    [
      { name: 'Time', type: FieldType.time, values: answer.map((series) => series.value[0] * 1000) },
      ...labels.map((name) => ({
        name,
        type: FieldType.string,
        values: answer.map((series) => series.metric[name] ?? ''),
      })),
      {
        name: alone ? 'Value' : `Value #${target.refId}`,
        type: FieldType.number,
        values: answer.map((series) => number(series.value[1])),
      },
    ],
    target.refId,
  );
}

function matches(matcher, name, type) {
  switch (matcher.id) {
    case 'byName':
      return matcher.options === name;
    case 'byRegexp':
      return stringToJsRegex(matcher.options).test(name);
    case 'byType':
      return matcher.options === type;
    default:
      throw new Error(`no matcher ${matcher.id}`);
  }
}

function set(config, path, value) {
  const keys = path.split('.');
  let place = config;
  for (const key of keys.slice(0, -1)) {
    place = place[key] ??= {};
  }
  place[keys.at(-1)] = value;
}

// Unit, thresholds, mappings and overrides of the panel.
function configured(frames, panel, theme) {
  const { defaults, overrides } = panel.fieldConfig;
  let series = 0; // its place in the palette
  for (const { fields } of frames) {
    for (const field of fields) {
      const name = field.config.displayNameFromDS ?? field.config.displayName ?? field.name;
      const own =
        field.type === FieldType.number
          ? structuredClone(defaults)
          : { custom: structuredClone(defaults.custom ?? {}) };
      for (const { matcher, properties } of overrides) {
        if (matches(matcher, name, field.type)) {
          properties.forEach(({ id, value }) => set(own, id, structuredClone(value)));
        }
      }
      delete own.links; // nothing to click on in a picture
      field.config = { ...own, ...field.config };
      field.state = { ...field.state, seriesIndex: field.type === FieldType.number ? series++ : undefined };
      field.display = getDisplayProcessor({ field, theme });
    }
  }
  return frames;
}

export async function framesOf(panel, answers, times, theme) {
  const frames = panel.targets.flatMap((target, i) => {
    const answer = answers[i];
    return target.format === 'table'
      ? [tableFrame(target, answer, panel.targets.length === 1)]
      : seriesFrames(target, answer, times);
  });
  const filled = frames.filter(({ length }) => length > 0);
  const transformed = panel.transformations
    ? await firstValueFrom(transformDataFrame(panel.transformations, filled))
    : filled;
  return configured(transformed, panel, theme);
}
