// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// One dashboard, drawn by Grafana's own components from data.js (written by scripts/screenshots).
import {
  createTheme,
  dateTime,
  EventBusSrv,
  FieldType,
  formattedValueToString,
  getDisplayValueAlignmentFactors,
  reduceField,
  ThemeContext,
} from '@grafana/data';
import {
  BarGauge,
  BigValue,
  GlobalStyles,
  PanelChrome,
  PanelContextProvider,
  Table,
  TimeSeries,
  VizRepeater,
} from '@grafana/ui';
import { createRoot } from 'react-dom/client';

import { framesOf } from './frames';
import { Heatmap, StateTimeline } from './own';

const { dashboard, answers, times, width, theme: mode } = window.pictureData;
const theme = createTheme({ colors: { mode } });
const CELL = 38; // of the grid, with the gap, as in Grafana
const GAP = 8;
const context = { eventBus: new EventBusSrv(), eventsScope: 'picture', sync: () => 0 };

function timeRange() {
  const [from, to] = [dateTime(times[0]), dateTime(times.at(-1))];
  return { from, to, raw: { from, to } };
}

function Lines({ panel, frames, width, height }) {
  return (
    <PanelContextProvider value={context}>
      <TimeSeries
        frames={frames}
        timeRange={timeRange()}
        timeZone="utc"
        width={width}
        height={height}
        legend={panel.options.legend}
      />
    </PanelContextProvider>
  );
}

function values(frames) {
  return frames.flatMap(({ fields }) =>
    fields
      .filter((field) => field.type === FieldType.number)
      .map((field) => {
        const shown = field.display(reduceField({ field, reducers: ['lastNotNull'] }).lastNotNull);
        return { ...shown, title: field.config.displayNameFromDS, field: field.config };
      }),
  );
}

function Stat({ panel, frames, width, height }) {
  const all = values(frames);
  const named = panel.options.textMode === 'value_and_name';
  return (
    <VizRepeater
      getValues={() => all}
      renderValue={({ value, width, height }) => (
        <BigValue
          value={{ ...value, title: named ? value.title : undefined }}
          width={width}
          height={height}
          theme={theme}
          colorMode="value"
          graphMode="none"
          textMode={named ? 'value_and_name' : 'value'}
          count={all.length}
        />
      )}
      source={frames}
      renderCounter={0}
      width={width}
      height={height}
      orientation="auto"
    />
  );
}

function Bars({ panel, frames, width, height }) {
  const all = values(frames);
  return (
    <VizRepeater
      getValues={() => all}
      renderValue={({ value, width, height, alignmentFactors }) => (
        <BarGauge
          value={value}
          field={value.field}
          width={width}
          height={height}
          theme={theme}
          displayMode={panel.options.displayMode}
          namePlacement="left"
          orientation="horizontal"
          showUnfilled
          alignmentFactors={alignmentFactors}
          text={{ titleSize: 13, valueSize: 14 }}
          display={(number) => ({ text: formattedValueToString(value), numeric: number })}
        />
      )}
      source={frames}
      renderCounter={0}
      width={width}
      height={height}
      getAlignmentFactors={(shown) => getDisplayValueAlignmentFactors(shown.map((display) => ({ display })))}
      itemSpacing={6}
      orientation="horizontal"
    />
  );
}

function Content({ panel, frames, width, height }) {
  const rows = frames.reduce((sum, { length }) => sum + length, 0);
  if (!frames.length || !rows) {
    return (
      <div style={{ padding: 16, textAlign: 'center' }}>
        {panel.fieldConfig.defaults.noValue ?? 'No data'}
      </div>
    );
  }
  const shared = { panel, frames, width, height, theme, times };
  switch (panel.type) {
    case 'timeseries':
      return <Lines {...shared} />;
    case 'stat':
      return <Stat {...shared} />;
    case 'bargauge':
      return <Bars {...shared} />;
    case 'table':
      return <Table data={frames[0]} width={width} height={height} timeRange={timeRange()} />;
    case 'state-timeline':
      return <StateTimeline {...shared} />;
    case 'heatmap':
      return <Heatmap {...shared} />;
    default:
      throw new Error(`no component for ${panel.type}`);
  }
}

function place({ x, y, w, h }) {
  const column = (width - GAP) / 24;
  return { left: GAP + x * column, top: GAP + y * CELL, width: w * column - GAP, height: h * CELL - GAP };
}

function Panel({ panel, frames }) {
  const { left, top, width, height } = place(panel.gridPos);
  return (
    <div style={{ position: 'absolute', left, top }}>
      <PanelChrome
        title={panel.title}
        width={width}
        height={height}
        padding={panel.type === 'table' ? 'none' : 'md'}
      >
        {(innerWidth, innerHeight) => (
          <Content panel={panel} frames={frames} width={innerWidth} height={innerHeight} />
        )}
      </PanelChrome>
    </div>
  );
}

function Row({ panel }) {
  const { left, top } = place(panel.gridPos);
  return <h4 style={{ position: 'absolute', left: left + 8, top: top + 6, margin: 0 }}>{panel.title}</h4>;
}

const drawn = await Promise.all(
  dashboard.panels.map(async (panel) => ({
    panel,
    frames: panel.type === 'row' ? [] : await framesOf(panel, answers[panel.id], times, theme),
  })),
);

createRoot(document.getElementById('root')).render(
  <ThemeContext.Provider value={theme}>
    <GlobalStyles />
    <div style={{ position: 'relative', background: theme.colors.background.canvas, width, height: '100vh' }}>
      {drawn.map(({ panel, frames }) =>
        panel.type === 'row' ? (
          <Row key={panel.id} panel={panel} />
        ) : (
          <Panel key={panel.id} panel={panel} frames={frames} />
        ),
      )}
    </div>
  </ThemeContext.Provider>,
);
