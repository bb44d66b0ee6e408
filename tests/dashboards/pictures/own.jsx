// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// The two kinds of panel that Grafana does not publish as a library, drawn in their manner: state timeline and heatmap.
import { formattedValueToString, getValueFormat } from '@grafana/data';

const LEFT = 210;
const BOTTOM = 22;

function TimeAxis({ times, left, width, y, color }) {
  const first = times[0];
  const last = times.at(-1);
  const marks = [];
  for (let time = Math.ceil(first / 60000) * 60000; time <= last; time += 60000) {
    marks.push(time);
  }
  return marks.map((time) => (
    <text
      key={time}
      x={left + ((time - first) / (last - first)) * width}
      y={y}
      fill={color}
      fontSize="11"
      textAnchor="middle"
    >
      {new Date(time).toISOString().slice(11, 16)}
    </text>
  ));
}

export function StateTimeline({ frames, times, width, height, theme }) {
  const row = Math.min(34, (height - BOTTOM) / frames.length);
  const wide = width - LEFT - 16;
  const step = wide / times.length;
  return (
    <svg width={width} height={height}>
      {frames.map(({ fields: [, field] }, i) => (
        <g key={i}>
          <text
            x={LEFT - 8}
            y={row * (i + 0.6)}
            fill={theme.colors.text.primary}
            fontSize="12"
            textAnchor="end"
          >
            {field.config.displayNameFromDS}
          </text>
          {field.values.map((value, k) =>
            value === null ? null : (
              <rect
                key={k}
                x={LEFT + k * step}
                y={row * i + 2}
                width={step + 0.5}
                height={row - 4}
                fill={field.display(value).color}
                fillOpacity="0.8"
              />
            ),
          )}
        </g>
      ))}
      <TimeAxis times={times} left={LEFT} width={wide} y={height - 6} color={theme.colors.text.secondary} />
    </svg>
  );
}

// Rows of cells: either the buckets of a histogram, or the values of all series sorted into buckets.
function cells(panel, frames, times) {
  if (!panel.options.calculate) {
    const sorted = [...frames].sort((a, b) => Number(a.fields[1].labels.le) - Number(b.fields[1].labels.le));
    const counts = sorted.map(({ fields }, i) =>
      times.map((_, k) => (fields[1].values[k] ?? 0) - (i ? (sorted[i - 1].fields[1].values[k] ?? 0) : 0)),
    );
    return { bounds: sorted.map(({ fields }) => Number(fields[1].labels.le)), counts };
  }
  const buckets = Number(panel.options.calculation.yBuckets.value);
  const top = Math.max(...frames.flatMap(({ fields }) => fields[1].values.filter((value) => value !== null)));
  const counts = Array.from({ length: buckets }, () => times.map(() => 0));
  for (const { fields } of frames) {
    fields[1].values.forEach((value, k) => {
      if (value !== null) {
        counts[Math.min(buckets - 1, Math.floor((value / top) * buckets))][k] += 1;
      }
    });
  }
  return { bounds: counts.map((_, i) => (top * (i + 1)) / buckets), counts };
}

export function Heatmap({ panel, frames, times, width, height, theme }) {
  let { bounds, counts } = cells(panel, frames, times);
  const used = counts
    .map((row, i) => (row.some((value) => value > 0) && Number.isFinite(bounds[i]) ? i : -1))
    .filter((i) => i >= 0);
  const [low, high] = [Math.min(...used), Math.max(...used)];
  bounds = bounds.slice(low, high + 1);
  counts = counts.slice(low, high + 1);
  const most = Math.max(...counts.flat());
  const left = 64;
  const wide = width - left - 16;
  const [cellWidth, cellHeight] = [wide / times.length, (height - BOTTOM) / counts.length];
  const unit = getValueFormat(panel.options.yAxis.unit);
  const every = Math.ceil(counts.length / 8);
  return (
    <svg width={width} height={height}>
      {counts.map((row, i) => {
        const y = height - BOTTOM - (i + 1) * cellHeight;
        return (
          <g key={i}>
            {i % every === 0 && (
              <text
                x={left - 8}
                y={y + cellHeight * 0.5 + 4}
                fill={theme.colors.text.secondary}
                fontSize="11"
                textAnchor="end"
              >
                {formattedValueToString(unit(bounds[i], panel.options.calculate ? 0 : 1))}
              </text>
            )}
            {row.map((value, k) =>
              value > 0 ? (
                <rect
                  key={k}
                  x={left + k * cellWidth}
                  y={y}
                  width={cellWidth - 0.5}
                  height={cellHeight - 1}
                  fill={theme.visualization.getColorByName('orange')}
                  fillOpacity={0.15 + 0.85 * Math.sqrt(value / most)}
                />
              ) : null,
            )}
          </g>
        );
      })}
      <TimeAxis times={times} left={left} width={wide} y={height - 6} color={theme.colors.text.secondary} />
    </svg>
  );
}
