import ipaddr from 'ipaddr.js';
import {
  type Fields,
  fieldsAt,
  isFields,
  listAt,
  type Manifest,
  podTemplateOf,
  textAt,
  valueAt,
} from '../../src/kustomize/manifest.ts';
import { find, ofKind, workloads } from './overlays.ts';

/** A network endpoint: a pod of a workload, a pod elsewhere in the cluster, or an external address. */
export type Peer =
  | { kind: 'pod'; name: string; labels: Fields; namespace: string }
  | { kind: 'address'; name: string; address: string };

/** A transport port. */
export interface Port {
  readonly protocol: 'TCP' | 'UDP';
  readonly port: number;
}

const NAMESPACE = 'svc';

/** Returns one pod of each workload of an overlay. */
export const podsOf = (manifests: readonly Manifest[]): Peer[] =>
  workloads(manifests).map((workload) => ({
    kind: 'pod',
    name: workload.metadata.name,
    labels: fieldsAt(podTemplateOf(workload), 'metadata', 'labels'),
    namespace: NAMESPACE,
  }));

/** Returns true if the NetworkPolicies allow the connection: the source's egress and the target's ingress both must. */
export const mayConnect = (manifests: readonly Manifest[], from: Peer, to: Peer, port: Port): boolean =>
  directionAllows(manifests, 'Egress', { subject: from, other: to, port }) &&
  directionAllows(manifests, 'Ingress', { subject: to, other: from, port });

const directionAllows = (
  manifests: readonly Manifest[],
  direction: 'Ingress' | 'Egress',
  { subject, other, port }: { subject: Peer; other: Peer; port: Port },
): boolean => {
  if (subject.kind !== 'pod' || subject.namespace !== NAMESPACE) return true;
  const policies = ofKind(manifests, 'NetworkPolicy').filter(
    (policy) =>
      selects(fieldsAt(policy, 'spec', 'podSelector'), subject.labels) &&
      [valueAt(policy, 'spec', 'policyTypes')].flat().includes(direction),
  );
  if (policies.length === 0) return true;
  const [rules, peers] = direction === 'Egress' ? (['egress', 'to'] as const) : (['ingress', 'from'] as const);
  return policies
    .flatMap((policy) => listAt(policy, 'spec', rules))
    .some(
      (rule) =>
        listAt(rule, peers).some((peer) => matchesPeer(manifests, peer, other)) &&
        listAt(rule, 'ports').some((allowed) => matchesPort(allowed, port)),
    );
};

/** Evaluates a label selector; an empty one selects everything. */
const selects = (selector: Fields, labels: Fields): boolean =>
  Object.entries(fieldsAt(selector, 'matchLabels')).every(([name, value]) => labels[name] === value) &&
  listAt(selector, 'matchExpressions').every((expression) => {
    if (textAt(expression, 'operator') !== 'In') throw new Error('Only the operator In is supported.');
    return [expression['values']].flat().includes(labels[textAt(expression, 'key')]);
  });

const matchesPeer = (manifests: readonly Manifest[], peer: Fields, other: Peer): boolean => {
  const block = peer['ipBlock'];
  if (isFields(block)) return other.kind === 'address' && isInBlock(block, other.address);
  if (other.kind !== 'pod') return false;
  const namespaces = peer['namespaceSelector'];
  const isNamespace = isFields(namespaces)
    ? selects(namespaces, namespaceLabels(manifests, other.namespace))
    : other.namespace === NAMESPACE;
  return isNamespace && selects(fieldsAt(peer, 'podSelector'), other.labels);
};

const namespaceLabels = (manifests: readonly Manifest[], name: string): Fields => ({
  ...(name === NAMESPACE ? find(manifests, 'Namespace', name).metadata.labels : {}),
  'kubernetes.io/metadata.name': name,
});

const isInBlock = (block: Fields, address: string): boolean =>
  isWithin(address, textAt(block, 'cidr')) &&
  ![block['except'] ?? []].flat().some((cidr) => isWithin(address, String(cidr)));

const isWithin = (address: string, cidr: string): boolean => {
  const parsed = ipaddr.parse(address);
  const [network, bits] = ipaddr.parseCIDR(cidr);
  return parsed.kind() === network.kind() && parsed.match(network, bits);
};

const matchesPort = (allowed: Fields, { protocol, port }: Port): boolean => {
  const first = Number(allowed['port']);
  return allowed['protocol'] === protocol && port >= first && port <= Number(allowed['endPort'] ?? first);
};
