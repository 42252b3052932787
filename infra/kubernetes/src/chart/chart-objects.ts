import type { Manifest } from '../kustomize/manifest.ts';
import { renderWith } from '../kustomize/render.ts';
import { placeValues } from './place-values.ts';
import { imageNames } from './service-values.ts';
import {
  block,
  fieldLines,
  fieldsOf,
  inline,
  isNodeFields,
  type Node,
  type NodeFields,
  unconditional,
} from './template.ts';
import { chartValues, FIXED_SETTINGS } from './values.ts';
import { weave } from './weave.ts';

/** The environment whose settings are the chart's defaults. */
export const OVERLAY = new URL('../../overlays/production/', import.meta.url);

/** A component of kustomize, with the value that turns it on. */
interface Layer {
  readonly component: string;
  readonly when?: string;
}

/** Components in the order in which overlays apply them. */
export const layers: readonly Layer[] = [
  { component: 'external-secrets' },
  { component: 'data-addresses' },
  { component: 'verified-data-stores', when: '.Values.dataStores.verified' },
  { component: 'stripe', when: '.Values.stripe.enabled' },
  { component: 'gateway-api', when: 'eq .Values.entrance.kind "gateway-api"' },
  { component: 'ingress', when: 'eq .Values.entrance.kind "ingress"' },
  { component: 'monitoring' },
  { component: 'single-sign-on', when: '.Values.singleSignOn.enabled' },
  { component: 'scaling-by-requests', when: '.Values.scalingByRequests' },
  { component: 'tracing', when: '.Values.tracing.enabled' },
];

/** Objects with a switch beside that of their component. */
const switches: readonly { kind: string; name?: RegExp; when: string }[] = [
  { kind: 'ExternalSecret', when: '.Values.secrets.store' },
  { kind: 'Certificate', when: '.Values.entrance.gatewayApi.issuer' },
  { kind: 'ClientTrafficPolicy', when: '.Values.entrance.gatewayApi.clientTrafficPolicy' },
  { kind: 'PodMonitor', when: '.Values.monitoring.podMonitor' },
  { kind: 'NetworkPolicy', name: /^from-prometheus$/, when: '.Values.monitoring.podMonitor' },
  { kind: 'PrometheusRule', when: '.Values.monitoring.rules' },
  { kind: 'ConfigMap', name: /^dashboard-/, when: '.Values.monitoring.dashboards' },
];

/** Renders production with the first components: one state without any, and one after each. */
const states = (): Manifest[][] =>
  [...layers.keys(), layers.length].map((count) =>
    renderWith(
      OVERLAY,
      layers.slice(0, count).map(({ component }) => `../../components/${component}`),
    ).filter(({ kind }) => kind !== 'Namespace'),
  );

/** Returns the conditions of what the layer before a state adds to an object, or of the object itself. */
const conditionsOf = (state: number, { kind, metadata: { name } }: Manifest, isWhole: boolean): string[] => {
  const when = layers[state - 1]?.when;
  const matching = switches.filter((each) => each.kind === kind && (each.name?.test(name) ?? true));
  return [...(when === undefined ? [] : [when]), ...(isWhole ? matching.map((each) => each.when) : [])];
};

/** The chart's objects, and what else its files need. */
export interface Chart {
  readonly objects: readonly Node[];
  /** Defaults by the paths of values. */
  readonly defaults: ReadonlyMap<string, unknown>;
  /** Version of the images. */
  readonly appVersion: string;
  /** Lines of the settings that all services share. */
  readonly settings: readonly string[];
}

/** Makes the chart's objects of the manifests: with a condition for each component, and a value at each of its places. */
export const chartObjects = (): Chart => {
  const objects = weave(states(), conditionsOf);
  const defaults = placeValues(objects, chartValues);
  const image = placeImages(objects);
  const settings = placeSettings(objects);
  for (const object of objects) {
    const fields = fieldsOf(object);
    const metadata = fieldsOf(fields['metadata']);
    metadata['namespace'] = release('Namespace');
    const added = annotationsOf(String(fields['kind']), String(metadata['name']));
    if (Object.keys(added).length > 0) metadata['annotations'] = { ...fieldsOf(metadata['annotations']), ...added };
    if (fields['kind'] === 'ExternalSecret')
      metadata['labels'] = { ...fieldsOf(metadata['labels']), 'app.kubernetes.io/managed-by': release('Service') };
  }
  defaults.set('images.registry', image.registry).set('settings', settings.free);
  const missing = chartValues.filter(({ path }) => !defaults.has(path));
  if (missing.length > 0) throw new Error(`No default for ${missing.map(({ path }) => path).join(', ')}.`);
  return { objects, defaults, appVersion: image.tag, settings: fieldLines(settings.fixed, 0) };
};

const release = (property: string): Node => inline(`{{ .Release.${property} | quote }}`);

/**
 * Migrations run before everything else of a release, and their accounts exist before them. ExternalSecrets carry what
 * makes Helm adopt them, so that they can be applied before the first installation: its migrations need the Secrets.
 */
const annotationsOf = (kind: string, name: string): NodeFields => {
  if (kind === 'ExternalSecret')
    return { 'meta.helm.sh/release-name': release('Name'), 'meta.helm.sh/release-namespace': release('Namespace') };
  if (!name.endsWith('-migration') || (kind !== 'Job' && kind !== 'ServiceAccount')) return {};
  return {
    'helm.sh/hook': 'pre-install,pre-upgrade',
    'helm.sh/hook-weight': kind === 'Job' ? '0' : '-10',
    'helm.sh/hook-delete-policy': 'before-hook-creation',
  };
};

/** Replaces every image by the template of its name. Returns the registry and the version, the same for all. */
const placeImages = (objects: readonly Node[]): { registry: string; tag: string } => {
  const registries = new Set<string>();
  const tags = new Set<string>();
  const visit = (node: Node): void => {
    const plain = unconditional(node);
    if (Array.isArray(plain)) plain.forEach(visit);
    if (!isNodeFields(plain)) return;
    const [, registry, name = '', tag] = /^(.+)\/([\w-]+):([\w.-]+)$/.exec(String(plain['image'] ?? '')) ?? [];
    if (registry !== undefined && tag !== undefined) {
      if (!imageNames.includes(name)) throw new Error(`The image ${name} is not among the chart's values.`);
      registries.add(registry);
      tags.add(tag);
      plain['image'] = inline(`{{ include "svc.images.${name}" . | quote }}`);
    }
    Object.values(plain).forEach(visit);
  };
  objects.forEach(visit);
  const [registry = ''] = registries;
  const [tag = ''] = tags;
  if (registries.size !== 1 || tags.size !== 1) throw new Error('The images have several registries or versions.');
  return { registry, tag };
};

/**
 * Puts the template of the settings into their ConfigMap, and a checksum of each file that a process reads at its start
 * into the pods: kustomize rolls them out by the suffix of the ConfigMap's name. Returns the settings.
 */
const placeSettings = (objects: readonly Node[]): { fixed: NodeFields; free: NodeFields } => {
  const map = objects
    .map(fieldsOf)
    .find(({ kind, metadata }) => kind === 'ConfigMap' && fieldsOf(metadata)['name'] === 'settings');
  const entries = Object.entries(fieldsOf(map?.['data']));
  if (map === undefined || entries.length === 0) throw new Error('There are no settings.');
  map['data'] = block((indentation) => `{{- include "svc.settings" . | nindent ${indentation} }}`);
  for (const object of objects.map(fieldsOf).filter(({ kind }) => kind === 'Deployment')) {
    const metadata = fieldsOf(fieldsOf(fieldsOf(object['spec'])['template'])['metadata']);
    const isBilling = fieldsOf(object['metadata'])['name'] === 'billing';
    metadata['annotations'] = {
      'checksum/settings': inline('{{ include "svc.settings" . | sha256sum | quote }}'),
      ...(isBilling ? { 'checksum/plans': inline('{{ .Values.plans | sha256sum | quote }}') } : {}),
    };
  }
  const isFixed = (name: string): boolean => FIXED_SETTINGS.includes(name);
  return {
    fixed: Object.fromEntries(entries.filter(([name]) => isFixed(name))),
    free: Object.fromEntries(entries.filter(([name]) => !isFixed(name))),
  };
};
