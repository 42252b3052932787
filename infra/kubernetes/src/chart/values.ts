import { z } from 'zod';
import { camelCase, entranceValues, imageNames, serviceValues } from './service-values.ts';
import type { ChartValue, Place } from './template.ts';

const peers = z.array(z.looseObject({})).min(1);
const ports = z.array(z.strictObject({ protocol: z.enum(['TCP', 'UDP']), port: z.int(), endPort: z.int().optional() }));
const text = z.string().min(1);
const store = (name: 'nats' | 'postgres', title: string): ChartValue[] => [
  {
    path: `dataStores.${name}.peers`,
    meaning: `${title}, as peers of a NetworkPolicy. Its address for the services is in their Secrets`,
    italian: `${title}, come peer di una NetworkPolicy. L’indirizzo per i servizi sta nei loro Secret`,
    schema: peers,
    places: [{ kind: 'NetworkPolicy', name: `to-${name}`, path: ['spec', 'egress', 0, 'to'] }],
  },
  {
    path: `dataStores.${name}.ports`,
    meaning: `Ports of ${title}`,
    italian: `Porte di ${title}`,
    schema: ports,
    places: [{ kind: 'NetworkPolicy', name: `to-${name}`, path: ['spec', 'egress', 0, 'ports'] }],
  },
];
const environment = (name: string, variable: string): Place => ({
  kind: 'Deployment',
  name,
  path: ['spec', 'template', 'spec', 'containers', 'service', 'env', variable, 'value'],
});
const TRACED = ['auth', 'billing', 'inference-gateway', 'webhook-dispatcher'];

/** Settings of all services that the chart sets itself. */
export const FIXED_SETTINGS: readonly string[] = ['HOST', 'PORT', 'INTERNAL_PORT', 'PUBLIC_BASE_URL'];

/** Every value of the chart, in the order of `values.yaml`. */
export const chartValues: readonly ChartValue[] = [
  {
    path: 'host',
    meaning: 'Public host name of the product',
    italian: 'Nome host pubblico del prodotto',
    schema: z.string().regex(/^[\w.-]+$/),
    places: [
      { kind: 'ConfigMap', name: 'settings', path: ['data', 'PUBLIC_BASE_URL'], prefix: 'https://' },
      { kind: 'Gateway', path: ['spec', 'listeners', 'https', 'hostname'] },
      { kind: 'Gateway', path: ['spec', 'listeners', 'http', 'hostname'] },
      { kind: 'HTTPRoute', path: ['spec', 'hostnames', 0] },
      { kind: 'Certificate', path: ['spec', 'dnsNames', 0] },
    ],
  },
  {
    path: 'images.registry',
    meaning: 'Registry and folder of the images',
    italian: 'Registry e cartella delle immagini',
    schema: text,
  },
  {
    path: 'images.tag',
    meaning: "Version of the images; empty: the chart's `appVersion`",
    italian: 'Versione delle immagini; vuoto: l’`appVersion` del chart',
    schema: z.string(),
    preset: '',
  },
  ...imageNames.map((name) => ({
    path: `images.digests.${camelCase(name)}`,
    meaning: 'Digest of the image, in place of the version',
    italian: 'Digest dell’immagine, al posto della versione',
    schema: z.string().regex(/^(sha256:[\da-f]{64})?$/),
    preset: '',
  })),
  ...serviceValues,
  {
    path: 'settings',
    meaning: 'Environment variables of all services, beside those that the chart sets',
    italian: 'Variabili d’ambiente di tutti i servizi, oltre a quelle che imposta il chart',
    schema: z.record(z.string().regex(/^[A-Z][A-Z\d_]*$/), z.string()),
  },
  {
    path: 'region',
    meaning: 'Where the gateways run (`INGRESS_REGION`)',
    italian: 'Dove girano i gateway (`INGRESS_REGION`)',
    schema: text,
    places: [environment('inference-gateway', 'INGRESS_REGION')],
  },
  ...store('postgres', 'PostgreSQL'),
  ...store('nats', 'NATS'),
  {
    path: 'dataStores.nats.streamReplicas',
    meaning: 'Copies of each stream: 3 on a cluster of three, 1 on a single server',
    italian: 'Copie di ogni stream: 3 su un cluster di tre, 1 su un solo server',
    schema: z.int().min(1).max(5),
    places: [
      {
        kind: 'Job',
        name: 'broker-migration',
        path: ['spec', 'template', 'spec', 'containers', 'migration', 'env', 'NATS_STREAM_REPLICAS', 'value'],
      },
    ],
  },
  {
    path: 'dataStores.nats.streamBytesMax',
    meaning: 'Bytes of each stream, in quotes. Raising it takes effect with the next upgrade; it is never lowered',
    italian: 'Byte di ogni stream, tra virgolette. Alzarlo ha effetto al prossimo aggiornamento; non si abbassa mai',
    // Helm would write a large number as 2.1e+09.
    schema: z.string().regex(/^\d+$/),
    places: [
      {
        kind: 'Job',
        name: 'broker-migration',
        path: ['spec', 'template', 'spec', 'containers', 'migration', 'env', 'NATS_STREAM_BYTES_MAX', 'value'],
      },
    ],
  },
  {
    path: 'dataStores.verified',
    meaning: 'Verify TLS to both data stores by the authorities in `secrets.names.dataStoreAuthorities`',
    italian: 'Verifica il TLS verso PostgreSQL e NATS con le autorità in `secrets.names.dataStoreAuthorities`',
    schema: z.boolean(),
    preset: true,
  },
  ...entranceValues,
  {
    path: 'stripe.enabled',
    meaning: 'Stripe as the payment provider',
    italian: 'Stripe come fornitore di pagamenti',
    schema: z.boolean(),
    preset: true,
  },
  {
    path: 'singleSignOn.enabled',
    meaning: 'Sign-in through your OpenID provider',
    italian: 'Accesso tramite il tuo provider OpenID',
    schema: z.boolean(),
    preset: false,
  },
  {
    path: 'singleSignOn.issuer',
    meaning: 'Its issuer',
    italian: 'Il suo issuer',
    schema: text,
    places: [environment('auth', 'SSO_ISSUER')],
  },
  {
    path: 'singleSignOn.clientId',
    meaning: 'Id of the client',
    italian: 'Id del client',
    schema: text,
    places: [environment('auth', 'SSO_CLIENT_ID')],
  },
  {
    path: 'monitoring.podMonitor',
    meaning: 'Scrapes by the Prometheus Operator (PodMonitor)',
    italian: 'Lettura delle metriche con il Prometheus Operator (PodMonitor)',
    schema: z.boolean(),
    preset: true,
  },
  {
    path: 'monitoring.rules',
    meaning: 'Alerts (PrometheusRule)',
    italian: 'Allarmi (PrometheusRule)',
    schema: z.boolean(),
    preset: true,
  },
  {
    path: 'monitoring.dashboards',
    meaning: 'Dashboards as ConfigMaps for the sidecar of Grafana',
    italian: 'Dashboard come ConfigMap per il sidecar di Grafana',
    schema: z.boolean(),
    preset: true,
  },
  {
    path: 'monitoring.release',
    meaning: 'Label by which Prometheus finds scrapes and alerts: the release of kube-prometheus-stack',
    italian: 'Etichetta con cui Prometheus trova metriche e allarmi: la release di kube-prometheus-stack',
    schema: text,
    places: [
      { kind: 'PodMonitor', path: ['metadata', 'labels', 'release'] },
      { kind: 'PrometheusRule', path: ['metadata', 'labels', 'release'] },
    ],
  },
  {
    path: 'monitoring.prometheus',
    meaning: 'Prometheus, as peers of a NetworkPolicy',
    italian: 'Prometheus, come peer di una NetworkPolicy',
    schema: peers,
    places: [{ kind: 'NetworkPolicy', name: 'from-prometheus', path: ['spec', 'ingress', 0, 'from'] }],
  },
  {
    path: 'tracing.enabled',
    meaning: 'Send traces to an OpenTelemetry collector',
    italian: 'Invia le tracce a un collector OpenTelemetry',
    schema: z.boolean(),
    preset: false,
  },
  {
    path: 'tracing.endpoint',
    meaning: 'Its address for OTLP over HTTP',
    italian: 'Il suo indirizzo per OTLP su HTTP',
    schema: z.url(),
    places: TRACED.map((name) => environment(name, 'OTEL_EXPORTER_OTLP_ENDPOINT')),
  },
  {
    path: 'tracing.share',
    meaning: 'Share of the requests that are traced',
    italian: 'Quota delle richieste tracciate',
    schema: z.number().min(0).max(1),
    places: TRACED.map((name) => environment(name, 'OTEL_TRACES_SAMPLER_ARG')),
  },
  {
    path: 'tracing.collector',
    meaning: 'The collector, as peers of a NetworkPolicy',
    italian: 'Il collector, come peer di una NetworkPolicy',
    schema: peers,
    places: [{ kind: 'NetworkPolicy', name: 'to-collector', path: ['spec', 'egress', 0, 'to'] }],
  },
  {
    path: 'scalingByRequests',
    meaning: 'Scale the gateway by requests in flight as well; needs the Prometheus Adapter',
    italian: 'Scala il gateway anche in base alle richieste in corso; richiede il Prometheus Adapter',
    schema: z.boolean(),
    preset: false,
  },
  {
    path: 'plans',
    meaning: 'Text of the plans file: `--set-file plans=plans.yaml`',
    italian: 'Testo del file dei piani: `--set-file plans=plans.yaml`',
    schema: text,
    places: [{ kind: 'ConfigMap', name: 'plans', path: ['data', 'plans.yaml'] }],
  },
  {
    path: 'routes',
    meaning: 'Text of the routes file: `--set-file routes=routes.yaml`',
    italian: 'Testo del file delle route: `--set-file routes=routes.yaml`',
    schema: text,
    places: [{ kind: 'ConfigMap', name: 'routes', path: ['data', 'routes.yaml'] }],
  },
];
