import { allInternalRoutes, allRoutes, type RouteDefinition } from '@svc/contracts';
import { describe, expect, test } from 'vitest';
import { fieldsAt, listAt, type Manifest, textAt, valueAt } from '../src/kustomize/manifest.ts';
import { find, ofKind, overlay } from './support/overlays.ts';

/** Returns every service whose rules match the path. */
type Entrance = (path: string) => string[];

const fill = ({ path }: RouteDefinition): string => path.replaceAll(/\{[^}]+\}/g, 'x1');
const CONSOLE = 'console';

/** ingress-nginx with use-regex: anchored regular expressions, longest first, so `/` is last. */
const ingress: Entrance = (path) => {
  const owners = ofKind(overlay('local'), 'Ingress').flatMap((each) =>
    listAt(each, 'spec', 'rules')
      .flatMap((rule) => listAt(rule, 'http', 'paths'))
      .filter((rule) => new RegExp(`^${textAt(rule, 'path')}`, 'i').test(path))
      .map((rule) => textAt(rule, 'backend', 'service', 'name')),
  );
  return withoutLast(owners);
};

/** Gateway API: whole regular expressions, and prefixes of whole segments. */
const gateway: Entrance = (path) =>
  withoutLast(
    ofKind(overlay('production'), 'HTTPRoute').flatMap((route) =>
      listAt(route, 'spec', 'rules').flatMap((rule) =>
        (rule['matches'] === undefined ? [] : listAt(rule, 'matches'))
          .filter((match) => takes(textAt(match, 'path', 'type'), textAt(match, 'path', 'value'), path))
          .flatMap(() => listAt(rule, 'backendRefs').map((backend) => textAt(backend, 'name'))),
      ),
    ),
  );

const takes = (type: string, value: string, path: string): boolean => {
  if (type === 'Exact') return path === value;
  if (type === 'RegularExpression') return new RegExp(`^(?:${value})$`).test(path);
  return value === '/' || path === value || path.startsWith(`${value}/`);
};

/** The console takes the remaining paths. */
const withoutLast = (owners: string[]): string[] => {
  const others = owners.filter((owner) => owner !== CONSOLE);
  return others.length === 0 ? owners : others;
};

describe.each([
  ['Ingress', ingress],
  ['HTTPRoute', gateway],
])('%s', (_kind, entrance) => {
  test.each(allRoutes.map((route) => [`${route.method} ${route.path}`, route] as const))(
    '%s goes only to its owner',
    (_name, route) => expect(entrance(fill(route))).toEqual([route.service]),
  );

  test.each(allInternalRoutes.map((route) => [route.path, fill(route)]))('%s goes to no service', (_name, path) => {
    expect(entrance(path)).toEqual([CONSOLE]);
  });

  test.each([
    '/healthz',
    '/readyz',
    '/metrics',
    '/internal',
    '/v1',
    '/v1/nope',
    '/v1/integrations',
    '/v1/integrations/nope',
  ])('%s goes to no service', (path) => expect(entrance(path)).toEqual([CONSOLE]));

  test.each([
    ['/v1/chat/unheard-of', 'inference-gateway'],
    ['/v1/console/accounts/unheard-of', 'auth'],
    ['/v1/console/account/webhook/unheard-of', 'webhook-dispatcher'],
    ['/v1/console/unheard-of', CONSOLE],
    ['/v1/integrations/apps/app_1/webhook/unheard-of', 'webhook-dispatcher'],
    ['/v1/integrations/apps/app_1/webhooks', CONSOLE],
    ['/v1/images/generations', 'inference-gateway'],
    ['/v1/chats', CONSOLE],
    ['/', CONSOLE],
    ['/apps/app_1', CONSOLE],
  ])('%s goes to %s', (path, owner) => expect(entrance(path)).toEqual([owner]));
});

describe('a client id that is an address, percent-encoded in the path', () => {
  const address = encodeURIComponent('https://agent.example/clients/1.json');
  const paths = ['icon', 'reports'].map((last) => `/v1/integrations/apps/${address}/${last}`);
  paths.push(`/v1/integrations/connections/${address}/grants`);

  test('goes to auth by Ingress, which matches decoded paths with merged slashes', () => {
    const owners = paths.map((path) => ingress(decodeURIComponent(path).replaceAll(/\/+/g, '/')));
    expect(owners).toEqual(paths.map(() => ['auth']));
  });

  test('goes to auth by HTTPRoute, whose gateway keeps encoded slashes', () => {
    expect(paths.map(gateway)).toEqual(paths.map(() => ['auth']));
    const policy = find(overlay('production'), 'ClientTrafficPolicy', 'svc');
    expect(policy).toMatchObject({ apiVersion: 'gateway.envoyproxy.io/v1alpha1' });
    expect(fieldsAt(policy, 'spec')).toEqual({
      path: { escapedSlashesAction: 'KeepUnchanged' },
      targetRefs: [{ group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'svc' }],
    });
  });
});

const bodyBytesOf = (service: string): number =>
  Math.max(...allRoutes.filter((route) => route.service === service).map(({ request }) => request.body?.bytesMax ?? 0));
/**
 * Longest silence of a provider by the gateway's settings UPSTREAM_FIRST_BYTE_TIMEOUT_MS and UPSTREAM_TOTAL_TIMEOUT_MS.
 */
const LONGEST_STREAM_SECONDS = 600;

describe('each Ingress', () => {
  const annotation = (manifest: Manifest, name: string): string =>
    textAt(manifest.metadata, 'annotations', `nginx.ingress.kubernetes.io/${name}`);

  test.each(ofKind(overlay('local'), 'Ingress').map((each) => [each.metadata.name, each] as const))(
    '%s does not buffer bodies and streams',
    (name, manifest) => {
      expect(annotation(manifest, 'proxy-buffering')).toBe('off');
      expect(annotation(manifest, 'proxy-request-buffering')).toBe('off');
      const [, mebibytes = ''] = /^(\d+)m$/.exec(annotation(manifest, 'proxy-body-size')) ?? [];
      if (name !== CONSOLE) expect(Number(mebibytes) * 2 ** 20).toBeGreaterThanOrEqual(bodyBytesOf(name));
    },
  );

  test('of the gateway accepts 32 MiB and waits for the longest stream', () => {
    const manifest = find(overlay('local'), 'Ingress', 'inference-gateway');
    expect(annotation(manifest, 'proxy-body-size')).toBe('32m');
    expect(Number(annotation(manifest, 'proxy-read-timeout'))).toBeGreaterThan(LONGEST_STREAM_SECONDS);
  });

  test.each(ofKind(overlay('local'), 'Ingress').map((each) => [each.metadata.name, each] as const))(
    '%s clears an incoming request id, which services trust',
    (_name, manifest) =>
      expect(annotation(manifest, 'configuration-snippet')).toBe('more_clear_input_headers "X-Request-Id";\n'),
  );
});

describe('each HTTPRoute', () => {
  const routes = ofKind(overlay('production'), 'HTTPRoute').filter(
    ({ metadata }) => metadata.name !== 'redirect-to-https',
  );
  const rules = routes.flatMap((route) =>
    listAt(route, 'spec', 'rules').map((rule) => [route.metadata.name, rule] as const),
  );

  test.each(rules)('%s removes an incoming request id, which services trust', (_name, rule) => {
    expect(rule['filters']).toEqual([
      { type: 'RequestHeaderModifier', requestHeaderModifier: { remove: ['X-Request-Id'] } },
    ]);
  });

  test('of the gateway waits for the longest stream after the longest upload', () => {
    const rule = rules.find(([name]) => name === 'inference-gateway')?.[1];
    const seconds = Number(/^(\d+)s$/.exec(textAt(rule, 'timeouts', 'request'))?.[1]);
    expect(seconds).toBeGreaterThan(LONGEST_STREAM_SECONDS + 300);
  });

  test('belongs to the gateway of the overlay', () => {
    for (const route of routes) {
      expect(valueAt(fieldsAt(route, 'spec'), 'parentRefs')).toEqual([{ name: 'svc', sectionName: 'https' }]);
    }
  });

  test('on port 80 only redirects', () => {
    const redirect = find(overlay('production'), 'HTTPRoute', 'redirect-to-https');
    expect(fieldsAt(redirect, 'spec')).toMatchObject({
      parentRefs: [{ name: 'svc', sectionName: 'http' }],
      rules: [{ filters: [{ type: 'RequestRedirect', requestRedirect: { scheme: 'https' } }] }],
    });
  });
});
