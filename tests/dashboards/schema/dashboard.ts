// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// What a file in dashboards/ has to be, put together from the types that Grafana publishes.
import type * as schema from '@grafana/schema';
import type * as bargauge from '@grafana/schema/dist/esm/raw/composable/bargauge/panelcfg/x/BarGaugePanelCfg_types.gen.js';
import type * as heatmap from '@grafana/schema/dist/esm/raw/composable/heatmap/panelcfg/x/HeatmapPanelCfg_types.gen.js';
import type * as stat from '@grafana/schema/dist/esm/raw/composable/stat/panelcfg/x/StatPanelCfg_types.gen.js';
import type * as timeline from '@grafana/schema/dist/esm/raw/composable/statetimeline/panelcfg/x/StateTimelinePanelCfg_types.gen.js';
import type * as table from '@grafana/schema/dist/esm/raw/composable/table/panelcfg/x/TablePanelCfg_types.gen.js';
import type * as timeseries from '@grafana/schema/dist/esm/raw/composable/timeseries/panelcfg/x/TimeSeriesPanelCfg_types.gen.js';

// The same type where enumerations are the strings and numbers that JSON has.
type Json<T> = T extends string
  ? `${T}`
  : T extends number
    ? number
    : T extends (infer Item)[]
      ? Json<Item>[]
      : T extends object
        ? { [Key in keyof T]: Json<T[Key]> }
        : T;

// A query of the Prometheus data source, whose types are not published.
interface Target {
  refId: string;
  datasource: { type: 'prometheus'; uid: string };
  editorMode: 'code';
  expr: string;
  legendFormat: string;
  range: boolean;
  instant: boolean;
  format: 'time_series' | 'table' | 'heatmap';
}

type Common = Required<Pick<Json<schema.Panel>, 'id' | 'title' | 'gridPos' | 'description' | 'datasource'>> &
  Pick<Json<schema.Panel>, 'transformations'> & { targets: Target[] };

interface FieldConfig<Custom> {
  defaults: Omit<Json<schema.FieldConfig>, 'custom'> & { custom?: Json<Custom> };
  overrides: Json<schema.FieldConfigSource>['overrides'];
}

type Of<Type, Options, Custom> = Common & {
  type: Type;
  options: Json<Options>;
  fieldConfig: FieldConfig<Custom>;
};

type Panel =
  | Of<'timeseries', timeseries.Options, timeseries.FieldConfig>
  | Of<'stat', stat.Options, Record<string, never>>
  | Of<'bargauge', bargauge.Options, Record<string, never>>
  | Of<'table', table.Options, Partial<table.FieldConfig>>
  | Of<'heatmap', heatmap.Options, heatmap.FieldConfig>
  | Of<'state-timeline', timeline.Options, timeline.FieldConfig>;

type Row = Json<Omit<schema.RowPanel, 'panels'>> & { panels: Panel[] };

// Annotations have keys of their data source too.
type Annotation = Json<schema.AnnotationQuery> &
  Pick<Target, 'expr'> & {
    titleFormat: string;
    textFormat: string;
    tagKeys: string;
    useValueForTime: boolean;
  };

type Variable = Json<schema.VariableModel> & { definition?: string };

export type Dashboard = Omit<Json<schema.Dashboard>, 'panels' | 'annotations' | 'templating'> & {
  uid: string;
  panels: (Panel | Row)[];
  annotations: { list: Annotation[] };
  templating: { list: Variable[] };
};
