import { z } from 'zod';
import type { ChartValue } from './chart-value.ts';

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
