import { z } from 'zod';
import type { ChartValue, Place } from './template.ts';

const SERVICES = ['auth', 'billing', 'console', 'inference-gateway', 'webhook-dispatcher'];
/** Images that the chart runs. */
export const imageNames: readonly string[] = [...SERVICES, 'broker-migration', 'operator'];

const POD = ['spec', 'template', 'spec'];
const resources = z.strictObject({
  requests: z.record(z.string(), z.union([z.string(), z.number()])).optional(),
  limits: z.record(z.string(), z.union([z.string(), z.number()])).optional(),
});

/** Returns a name of the manifests as one of values, which cannot contain hyphens. */
export const camelCase = (name: string): string =>
  name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

const valuesOf = (service: string): ChartValue[] => {
  const path = `services.${camelCase(service)}`;
  const autoscaler = { kind: 'HorizontalPodAutoscaler', name: service };
  const container = { kind: 'Deployment', name: service };
  return [
    {
      path: `${path}.replicas.min`,
      meaning: 'Fewest replicas',
      italian: 'Numero minimo di repliche',
      schema: z.int().min(1),
      places: [{ ...autoscaler, path: ['spec', 'minReplicas'] }],
    },
    {
      path: `${path}.replicas.max`,
      meaning: 'Most replicas',
      italian: 'Numero massimo di repliche',
      schema: z.int().min(1),
      places: [{ ...autoscaler, path: ['spec', 'maxReplicas'] }],
    },
    {
      path: `${path}.resources`,
      meaning: 'Requests and limits of a replica',
      italian: 'Richieste e limiti di una replica',
      schema: resources,
      places: [{ ...container, path: [...POD, 'containers', 'service', 'resources'] }],
    },
    {
      path: `${path}.environment`,
      meaning: 'Further environment variables, as a container lists them',
      italian: 'Altre variabili d’ambiente, come le elenca un container',
      schema: z.array(z.looseObject({ name: z.string() })),
      additions: [{ ...container, path: [...POD, 'containers', 'service', 'env'] }],
      preset: [],
    },
  ];
};

/** Secrets by their names in the manifests, with their content in English and in Italian. */
export const secrets: readonly (readonly [name: string, meaning: string, italian: string])[] = [
  ['auth', 'Secret of auth', 'Secret di auth'],
  ['billing', 'Secret of billing', 'Secret di billing'],
  [
    'inference-gateway',
    'Secret of inference-gateway, with the keys of providers',
    'Secret di inference-gateway, con le chiavi dei fornitori',
  ],
  ['webhook-dispatcher', 'Secret of webhook-dispatcher', 'Secret di webhook-dispatcher'],
  ['broker-migration', 'Secret of the migration of NATS', 'Secret della migrazione di NATS'],
  ['operator', 'Secret of the command line', 'Secret della riga di comando'],
  ['data-store-authorities', 'Certificates for `dataStores.verified`', 'Certificati per `dataStores.verified`'],
  ['billing-stripe', 'Keys of Stripe, with `stripe.enabled`', 'Chiavi di Stripe, con `stripe.enabled`'],
  [
    'auth-single-sign-on',
    'Secret of the client at your OpenID provider, with `singleSignOn.enabled`',
    'Secret del client presso il tuo provider OpenID, con `singleSignOn.enabled`',
  ],
];

/** Returns the value with the name of a Secret. */
export const secretValue = (name: string): string => `secrets.names.${camelCase(name)}`;

const PODS: Readonly<Record<string, readonly string[]>> = {
  Deployment: POD,
  Job: POD,
  CronJob: ['spec', 'jobTemplate', ...POD],
};

/** Returns the same field in every pod. */
const inPods = (field: string): Place[] =>
  Object.entries(PODS).map(([kind, path]) => ({ kind, path: [...path, field] }));

/** Values of pods: replicas, resources, placement, and the Secrets that they read. */
export const serviceValues: readonly ChartValue[] = [
  {
    path: 'images.pullSecrets',
    meaning: 'Secrets for the registry, such as `[{ name: registry }]`',
    italian: 'Secret per il registry, come `[{ name: registry }]`',
    schema: z.array(z.strictObject({ name: z.string() })),
    additions: inPods('imagePullSecrets'),
    preset: [],
  },
  ...SERVICES.flatMap(valuesOf),
  {
    path: 'nodeSelector',
    meaning: 'Labels of the nodes for all pods',
    italian: 'Etichette dei nodi per tutti i pod',
    schema: z.record(z.string(), z.string()),
    additions: inPods('nodeSelector'),
    preset: {},
  },
  {
    path: 'tolerations',
    meaning: 'Taints that all pods tolerate',
    italian: 'Taint che tutti i pod tollerano',
    schema: z.array(z.looseObject({})),
    additions: inPods('tolerations'),
    preset: [],
  },
  {
    path: 'secrets.store',
    meaning: 'ClusterSecretStore of the External Secrets Operator; empty: you bring the Secrets',
    italian: 'ClusterSecretStore dell’External Secrets Operator; vuoto: i Secret li porti tu',
    schema: z.string(),
    places: [{ kind: 'ExternalSecret', path: ['spec', 'secretStoreRef', 'name'] }],
  },
  ...secrets.map(([name, meaning, italian]) => ({
    path: secretValue(name),
    meaning,
    italian,
    schema: z.string().min(1),
    preset: name,
  })),
];

const text = z.string().min(1);
const ENTRANCE = ['spec', 'ingress', 0, 'from', 0, 'namespaceSelector', 'matchLabels', 'kubernetes.io/metadata.name'];

/** Values of the way in from outside. */
export const entranceValues: readonly ChartValue[] = [
  {
    path: 'entrance.kind',
    meaning: '`gateway-api`, `ingress` (ingress-nginx with snippets allowed) or `none`',
    italian: '`gateway-api`, `ingress` (ingress-nginx con gli snippet permessi) o `none`',
    schema: z.enum(['gateway-api', 'ingress', 'none']),
    preset: 'gateway-api',
  },
  {
    path: 'entrance.gatewayApi.className',
    meaning: 'GatewayClass',
    italian: 'GatewayClass',
    schema: text,
    places: [{ kind: 'Gateway', path: ['spec', 'gatewayClassName'] }],
  },
  {
    path: 'entrance.gatewayApi.namespace',
    meaning: "Namespace of the gateway's proxies",
    italian: 'Namespace dei proxy del gateway',
    schema: text,
    places: [{ kind: 'NetworkPolicy', name: 'from-entrance', component: 'gateway-api', path: ENTRANCE }],
  },
  {
    path: 'entrance.gatewayApi.clientTrafficPolicy',
    meaning:
      "Envoy Gateway's policy that keeps encoded slashes; off for another implementation, which must keep them too",
    italian:
      'La policy di Envoy Gateway che conserva le barre codificate; spenta con un’altra implementazione, che deve conservarle comunque',
    schema: z.boolean(),
    preset: true,
  },
  {
    path: 'entrance.gatewayApi.tlsSecret',
    meaning: 'Secret with the certificate',
    italian: 'Secret con il certificato',
    schema: text,
    places: [
      { kind: 'Gateway', path: ['spec', 'listeners', 'https', 'tls', 'certificateRefs', 0, 'name'] },
      { kind: 'Certificate', path: ['spec', 'secretName'] },
    ],
  },
  {
    path: 'entrance.gatewayApi.issuer',
    meaning: 'ClusterIssuer of cert-manager that obtains the certificate; empty: you bring the Secret',
    italian: 'ClusterIssuer di cert-manager che ottiene il certificato; vuoto: il Secret lo porti tu',
    schema: z.string(),
    places: [{ kind: 'Certificate', path: ['spec', 'issuerRef', 'name'] }],
  },
  {
    path: 'entrance.ingress.className',
    meaning: 'IngressClass',
    italian: 'IngressClass',
    schema: text,
    places: [{ kind: 'Ingress', path: ['spec', 'ingressClassName'] }],
  },
  {
    path: 'entrance.ingress.namespace',
    meaning: "Namespace of the controller's pods",
    italian: 'Namespace dei pod del controller',
    schema: text,
    places: [{ kind: 'NetworkPolicy', name: 'from-entrance', component: 'ingress', path: ENTRANCE }],
  },
  {
    path: 'entrance.ingress.tls',
    meaning: 'Hosts and Secrets of certificates (`spec.tls` of an Ingress)',
    italian: 'Host e Secret dei certificati (`spec.tls` di un Ingress)',
    schema: z.array(z.strictObject({ hosts: z.array(z.string()).optional(), secretName: z.string().optional() })),
    additions: [{ kind: 'Ingress', path: ['spec', 'tls'] }],
    preset: [],
  },
];
