import { z } from 'zod';
import type { ChartValue } from './chart-value.ts';

const text = z.string().min(1);
const ENTRANCE = ['spec', 'ingress', 0, 'from', 0, 'namespaceSelector', 'matchLabels', 'kubernetes.io/metadata.name'];

/** Values of the way in from outside. */
export const entranceValues: readonly ChartValue[] = [
  {
    path: 'entrance.kind',
    meaning: '`gateway-api`, `ingress` (ingress-nginx with snippets allowed) or `none`',
    schema: z.enum(['gateway-api', 'ingress', 'none']),
    preset: 'gateway-api',
  },
  {
    path: 'entrance.gatewayApi.className',
    meaning: 'GatewayClass',
    schema: text,
    places: [{ kind: 'Gateway', path: ['spec', 'gatewayClassName'] }],
  },
  {
    path: 'entrance.gatewayApi.namespace',
    meaning: "Namespace of the gateway's proxies",
    schema: text,
    places: [{ kind: 'NetworkPolicy', name: 'from-entrance', component: 'gateway-api', path: ENTRANCE }],
  },
  {
    path: 'entrance.gatewayApi.clientTrafficPolicy',
    meaning:
      "Envoy Gateway's policy that keeps encoded slashes; off for another implementation, which must keep them too",
    schema: z.boolean(),
    preset: true,
  },
  {
    path: 'entrance.gatewayApi.tlsSecret',
    meaning: 'Secret with the certificate',
    schema: text,
    places: [
      { kind: 'Gateway', path: ['spec', 'listeners', 'https', 'tls', 'certificateRefs', 0, 'name'] },
      { kind: 'Certificate', path: ['spec', 'secretName'] },
    ],
  },
  {
    path: 'entrance.gatewayApi.issuer',
    meaning: 'ClusterIssuer of cert-manager that obtains the certificate; empty: you bring the Secret',
    schema: z.string(),
    places: [{ kind: 'Certificate', path: ['spec', 'issuerRef', 'name'] }],
  },
  {
    path: 'entrance.ingress.className',
    meaning: 'IngressClass',
    schema: text,
    places: [{ kind: 'Ingress', path: ['spec', 'ingressClassName'] }],
  },
  {
    path: 'entrance.ingress.namespace',
    meaning: "Namespace of the controller's pods",
    schema: text,
    places: [{ kind: 'NetworkPolicy', name: 'from-entrance', component: 'ingress', path: ENTRANCE }],
  },
  {
    path: 'entrance.ingress.tls',
    meaning: 'Hosts and Secrets of certificates (`spec.tls` of an Ingress)',
    schema: z.array(z.strictObject({ hosts: z.array(z.string()).optional(), secretName: z.string().optional() })),
    additions: [{ kind: 'Ingress', path: ['spec', 'tls'] }],
    preset: [],
  },
];
