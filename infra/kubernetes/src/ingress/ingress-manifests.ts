import { routes } from '@svc/contracts';
import { type EntranceRule, type EntranceService, inMebibytes } from './entrance.ts';
import { rulePattern } from './path-rules.ts';

/**
 * Maximum seconds without data from a service: providers are slow, and billing may be too. Longer than any of the
 * services' timeouts.
 */
const SILENCE_SECONDS = { answers: 65, streams: 660 };
const PREFIX = 'nginx.ingress.kubernetes.io';
/**
 * Matches below an app whose client id is an address: nginx decodes `https%3A%2F%2F…` and merges its slashes before it
 * matches, and forwards the path as it came.
 */
const ADDRESSES_OF: Readonly<Record<string, readonly string[]>> = { auth: [`${routes.listApps.path}/https:/.+$`] };

/**
 * Renders one Ingress per service for ingress-nginx: paths as regular expressions (the contract has parameters between
 * literals), no buffering in either direction, the body limit of the contract. An incoming request id is cleared:
 * services trust it, and it identifies a reservation.
 */
export const ingressManifests = (services: readonly EntranceService[]): object[] =>
  services.map((service) => ({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: { name: service.name, annotations: annotations(service) },
    spec: {
      ingressClassName: 'nginx',
      rules: [
        {
          http: {
            paths: [
              ...service.rules.map((rule) => toPath(rule, service.name)),
              ...(ADDRESSES_OF[service.name] ?? []).map((path) => patternPath(path, service.name)),
            ],
          },
        },
      ],
    },
  }));

const annotations = ({ streams, bodyBytesMax }: EntranceService): Record<string, string> => {
  const seconds = String(streams ? SILENCE_SECONDS.streams : SILENCE_SECONDS.answers);
  return {
    [`${PREFIX}/use-regex`]: 'true',
    [`${PREFIX}/proxy-body-size`]: `${inMebibytes(bodyBytesMax)}m`,
    [`${PREFIX}/proxy-buffering`]: 'off',
    [`${PREFIX}/proxy-request-buffering`]: 'off',
    [`${PREFIX}/proxy-http-version`]: '1.1',
    [`${PREFIX}/proxy-connect-timeout`]: '5',
    [`${PREFIX}/proxy-read-timeout`]: seconds,
    [`${PREFIX}/proxy-send-timeout`]: seconds,
    [`${PREFIX}/configuration-snippet`]: 'more_clear_input_headers "X-Request-Id";\n',
  };
};

const toPath = (rule: EntranceRule, service: string): object =>
  rule.path === '/'
    ? { path: '/', pathType: 'Prefix', backend: backendOf(service) }
    : patternPath(`${rulePattern(rule)}$`, service);

const patternPath = (path: string, service: string): object => ({
  path,
  pathType: 'ImplementationSpecific',
  backend: backendOf(service),
});

const backendOf = (service: string): object => ({ service: { name: service, port: { name: 'public' } } });
