import type { Manifest } from '../kustomize/manifest.ts';
import { renderWith } from '../kustomize/render.ts';

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
export const states = (): Manifest[][] =>
  [...layers.keys(), layers.length].map((count) =>
    renderWith(
      OVERLAY,
      layers.slice(0, count).map(({ component }) => `../../components/${component}`),
    ).filter(({ kind }) => kind !== 'Namespace'),
  );

/** Returns the conditions of what the layer before a state adds to an object, or of the object itself. */
export const conditionsOf = (state: number, { kind, metadata: { name } }: Manifest, isWhole: boolean): string[] => {
  const when = layers[state - 1]?.when;
  const matching = switches.filter((each) => each.kind === kind && (each.name?.test(name) ?? true));
  return [...(when === undefined ? [] : [when]), ...(isWhole ? matching.map((each) => each.when) : [])];
};
