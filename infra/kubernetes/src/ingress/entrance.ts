import { type RouteDefinition, type ServiceName, unservedPaths } from '@svc/contracts';
import { type PathRule, pathRules } from './path-rules.ts';

/** One service behind the entrance, with the needs of its responses. */
export interface EntranceService {
  readonly name: ServiceName | 'console';
  readonly rules: EntranceRule[];
  /** Largest body that one of its routes accepts. */
  readonly bodyBytesMax: number;
  /** True if responses may start late and stream for minutes. */
  readonly streams: boolean;
}

/** A rule of the contract, or the console's catch-all. */
export type EntranceRule = Pick<PathRule, 'kind' | 'path'>;

/** The only service with streaming responses. */
const STREAMING: ServiceName = 'inference-gateway';
const MEBIBYTE = 1_048_576;

/** Lists the services behind the entrance: each with its paths from the contract, and the console with the rest. */
export const entranceServices = (routes: readonly RouteDefinition[]): EntranceService[] => {
  const rules = pathRules([...routes, ...unservedPaths]);
  const names = [...new Set(rules.map(({ service }) => service))].sort();
  return [
    ...names.map((name) => ({
      name,
      rules: rules.filter(({ service }) => service === name).map(({ kind, path }) => ({ kind, path })),
      bodyBytesMax: Math.max(MEBIBYTE, ...routes.filter(({ service }) => service === name).map(bodyBytes)),
      streams: name === STREAMING,
    })),
    { name: 'console', rules: [{ kind: 'prefix', path: '/' }], bodyBytesMax: MEBIBYTE, streams: false },
  ];
};

const bodyBytes = ({ request }: RouteDefinition): number => request.body?.bytesMax ?? 0;

/** Rounds bytes up to whole MiB. */
export const inMebibytes = (bytes: number): number => Math.ceil(bytes / MEBIBYTE);
