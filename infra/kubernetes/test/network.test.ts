import { readFileSync } from 'node:fs';
import { isPublicAddress } from '@svc/destinations';
import ipaddr from 'ipaddr.js';
import { describe, expect, test } from 'vitest';
import { listAt, type Manifest } from '../src/kustomize/manifest.ts';
import { mayConnect, type Peer, podsOf } from './support/network.ts';
import {
  containersOf,
  find,
  type OverlayName,
  ofKind,
  overlay,
  overlayNames,
  serviceNames,
} from './support/overlays.ts';

/** Internal calls, as drawn in docs/architecture.md. Signing keys are read at auth's public port. */
const SERVICE_ARROWS = [
  'auth -> billing:3001',
  'auth -> inference-gateway:3001',
  'auth -> webhook-dispatcher:3001',
  'billing -> auth:3000',
  'billing -> auth:3001',
  'billing -> inference-gateway:3001',
  'inference-gateway -> auth:3000',
  'inference-gateway -> auth:3001',
  'inference-gateway -> billing:3001',
  ...['auth', 'billing', 'inference-gateway', 'webhook-dispatcher'].map((name) => `operator -> ${name}:3001`),
  'webhook-dispatcher -> auth:3000',
  'webhook-dispatcher -> auth:3001',
  'webhook-dispatcher -> billing:3001',
];
const WITH_DATABASE = ['auth', 'billing', 'inference-gateway', 'webhook-dispatcher'];
const LOCAL_ARROWS = [
  'broker-migration -> nats:4222',
  'inference-gateway -> sandbox-provider:9100',
  'billing -> sandbox-payments:9300',
  'sandbox-payments -> billing:3000',
  ...WITH_DATABASE.flatMap((name) => [
    `${name} -> nats:4222`,
    `${name} -> postgres:5432`,
    `${name}-migration -> postgres:5432`,
  ]),
];
const PORTS = [53, 80, 443, 3000, 3001, 4222, 5432, 6222, 8222, 9100, 9300];

const elsewhere = (namespace: string, labels: Record<string, string> = {}): Peer => ({
  kind: 'pod',
  name: namespace,
  labels,
  namespace,
});
const at = (address: string): Peer => ({ kind: 'address', name: address, address });
const tcp = (port: number) => ({ protocol: 'TCP', port }) as const;
const podNamed = (manifests: readonly Manifest[], name: string): Peer => {
  const pod = podsOf(manifests).find((each) => each.name === name);
  if (pod === undefined) throw new Error(`no pod of ${name}`);
  return pod;
};
const reachable = (name: OverlayName, from: string, address: string, port: number): boolean =>
  mayConnect(overlay(name), podNamed(overlay(name), from), at(address), tcp(port));

describe.each(overlayNames)('%s', (name) => {
  const manifests = overlay(name);
  const pods = podsOf(manifests);

  test('pods reach each other only along the arrows of the architecture', () => {
    const open = pods.flatMap((from) =>
      pods.flatMap((to) =>
        PORTS.filter((port) => mayConnect(manifests, from, to, tcp(port))).map(
          (port) => `${from.name} -> ${to.name}:${port}`,
        ),
      ),
    );
    const expected = name === 'local' ? [...SERVICE_ARROWS, ...LOCAL_ARROWS] : SERVICE_ARROWS;
    expect(open.toSorted()).toEqual(expected.toSorted());
  });

  test('the entrance reaches only the public port of each service', () => {
    const entrance = elsewhere(name === 'local' ? 'ingress-nginx' : 'envoy-gateway-system');
    const open = pods.flatMap((to) =>
      PORTS.filter((port) => mayConnect(manifests, entrance, to, tcp(port))).map((port) => `${to.name}:${port}`),
    );
    const trial = name === 'local' ? ['sandbox-payments:9300'] : [];
    expect(open.toSorted()).toEqual([...serviceNames.map((service) => `${service}:3000`), ...trial].toSorted());
  });

  test('other pods reach nothing, except Prometheus the metrics', () => {
    const prometheus = { 'app.kubernetes.io/name': 'prometheus' };
    const strangers = [
      elsewhere('default'),
      elsewhere('kube-system'),
      elsewhere('monitoring'),
      elsewhere('other', prometheus),
    ];
    for (const stranger of strangers) {
      for (const pod of pods) {
        expect(PORTS.filter((port) => mayConnect(manifests, stranger, pod, tcp(port)))).toEqual([]);
      }
    }
    const open = pods.filter((pod) => mayConnect(manifests, elsewhere('monitoring', prometheus), pod, tcp(3001)));
    expect(open.map((pod) => pod.name).toSorted()).toEqual(name === 'local' ? [] : [...serviceNames]);
  });

  test('services reach a collector only with tracing', () => {
    const collector = elsewhere('monitoring', { 'app.kubernetes.io/name': 'opentelemetry-collector' });
    const open = pods.flatMap((from) =>
      [...PORTS, 4317, 4318]
        .filter((port) => mayConnect(manifests, from, collector, tcp(port)))
        .map((port) => `${from.name}:${port}`),
    );
    expect(open.toSorted()).toEqual(name === 'with-single-sign-on' ? WITH_DATABASE.map((each) => `${each}:4318`) : []);
  });

  test('every pod reaches cluster DNS and no other name server', () => {
    const dns = elsewhere('kube-system', { 'k8s-app': 'kube-dns' });
    for (const pod of pods) {
      expect(mayConnect(manifests, pod, dns, { protocol: 'UDP', port: 53 }), pod.name).toBe(true);
      expect(mayConnect(manifests, pod, dns, tcp(443)), pod.name).toBe(false);
      for (const onNode of ['169.254.20.10', '169.254.169.254'].map(at)) {
        expect(mayConnect(manifests, pod, onNode, { protocol: 'UDP', port: 53 }), pod.name).toBe(true);
        // The address of the node's credentials.
        expect(mayConnect(manifests, pod, onNode, tcp(80)), pod.name).toBe(false);
      }
      expect(mayConnect(manifests, pod, elsewhere('kube-system'), tcp(443)), pod.name).toBe(false);
      expect(mayConnect(manifests, pod, at('8.8.8.8'), { protocol: 'UDP', port: 53 }), pod.name).toBe(false);
    }
  });

  test('only services with external calls reach the internet', () => {
    const open = pods.filter((pod) => mayConnect(manifests, pod, at('93.184.215.14'), tcp(443))).map((pod) => pod.name);
    const expected = {
      local: ['auth', 'inference-gateway', 'webhook-dispatcher'],
      staging: ['auth', 'billing', 'inference-gateway', 'webhook-dispatcher'],
      production: ['auth', 'billing', 'inference-gateway', 'webhook-dispatcher'],
      'with-single-sign-on': ['auth', 'billing', 'inference-gateway', 'webhook-dispatcher'],
    };
    expect(open.toSorted()).toEqual(expected[name]);
  });

  test('only the dispatcher may use ports other than 443: those allowed for webhooks', () => {
    for (const { name: from } of pods) {
      expect(reachable(name, from, '93.184.215.14', 8443), from).toBe(from === 'webhook-dispatcher');
      expect(reachable(name, from, '93.184.215.14', 80), from).toBe(false);
      expect(reachable(name, from, '93.184.215.14', 1023), from).toBe(false);
    }
  });
});

describe('private and special addresses', () => {
  /** First and last address of every range that the check of destinations refuses, and their neighbors. */
  const samples = (): { address: string; isPublic: boolean }[] => {
    const source = readFileSync(
      new URL('../../../packages/destinations/src/public-address.ts', import.meta.url),
      'utf8',
    );
    const ranges = [...source.matchAll(/'([\da-f.:]+\/\d+)'/g)].map(([, range = '']) => range);
    expect(ranges.length).toBeGreaterThan(20);
    return ranges
      .flatMap((range) => (range.includes(':') ? edgesOfIpv6(range) : edgesOfIpv4(range)))
      .map((address) => ({ address, isPublic: isPublicAddress(address) }));
  };

  test.each(['staging', 'production', 'with-single-sign-on'] as const)(
    '%s: the policies refuse the addresses that the check of destinations refuses',
    (name) => {
      for (const { address, isPublic } of samples()) {
        expect({ address, isPublic: reachable(name, 'webhook-dispatcher', address, 443) }).toEqual({
          address,
          isPublic,
        });
      }
    },
  );

  test('no service with internet access reaches private addresses', () => {
    const refused = samples().filter(({ isPublic }) => !isPublic);
    for (const from of ['billing', 'inference-gateway', 'auth']) {
      const open = refused.filter(({ address }) => reachable('with-single-sign-on', from, address, 443));
      expect(open).toEqual([]);
    }
  });
});

describe.each(['staging', 'production'] as const)('%s: data stores at given addresses', (name) => {
  test('are reached at the overlay’s addresses, not the placeholder', () => {
    for (const [policy, port] of [
      ['to-postgres', 5432],
      ['to-nats', 4222],
    ] as const) {
      const cidr = String(JSON.stringify(find(overlay(name), 'NetworkPolicy', policy)).match(/"cidr":"([^"]+)"/)?.[1]);
      expect(cidr).not.toMatch(/^192\.0\.2\./);
      const address = ipaddr.parseCIDR(cidr)[0].toString();
      for (const service of WITH_DATABASE) expect(reachable(name, service, address, port)).toBe(true);
      expect(reachable(name, 'console', address, port)).toBe(false);
      expect(reachable(name, 'auth', address, 22)).toBe(false);
    }
  });
});

test('a service may reach each address in its environment', () => {
  const manifests = overlay('production');
  for (const workload of ofKind(manifests, 'Deployment')) {
    const from = podNamed(manifests, workload.metadata.name);
    const settings = containersOf(workload).flatMap((container) => listAt(container, 'env'));
    for (const { value } of settings) {
      const [, host = '', port = ''] = /^http:\/\/([a-z-]+):(\d+)/.exec(String(value)) ?? [];
      if (host === '') continue;
      expect(mayConnect(manifests, from, podNamed(manifests, host), tcp(Number(port))), `${from.name}: ${value}`).toBe(
        true,
      );
    }
  }
});

/** Converts an IPv4 address to a number, and back. */
const ipv4 = (value: number): string => [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join('.');
const edgesOfIpv4 = (range: string): string[] => {
  const [network, bits] = ipaddr.parseCIDR(range);
  const first = network.toByteArray().reduce((sum, byte) => sum * 256 + byte, 0);
  const size = 2 ** (32 - bits);
  return [first - 1, first, first + size - 1, first + size].filter((value) => value >= 0 && value < 2 ** 32).map(ipv4);
};
const edgesOfIpv6 = (range: string): string[] => {
  const network = String(range.split('/', 1)[0]);
  return [network, `${network}1`].filter((address) => ipaddr.isValid(address));
};
