import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type ConfiguredRoute, type RoutesFile, routesFileSchema } from '@svc/contracts';
import { type Document, parseDocument } from 'yaml';
import { createRouteTable, type Provider, type Route, type RouteTable } from './route-table.ts';

/** Thrown for an invalid routes file. The message lists every fault. */
export class RoutesFileError extends Error {
  override readonly name = 'RoutesFileError';
  readonly faults: readonly string[];

  constructor(faults: readonly string[], cause?: unknown) {
    super(['The routes file is invalid:', ...faults.map((fault) => `  ${fault}`)].join('\n'), { cause });
    this.faults = faults;
  }
}

interface RoutesFileContext {
  readonly nowMs: number;
  /** Reads a provider's key, given the variable that the routes file names. */
  readonly providerKey: ReadProviderKey;
}

/** Parses and validates a routes file. Throws RoutesFileError with all faults. No fault quotes a key. */
export const parseRoutesFile = (text: string, context: RoutesFileContext): RouteTable => {
  const document = parseDocument(text);
  if (document.errors.length > 0) {
    throw new RoutesFileError(document.errors.map(({ message }) => `YAML: ${message.split('\n')[0]}`));
  }
  const result = routesFileSchema.safeParse(readDocument(document));
  if (!result.success) {
    throw new RoutesFileError(
      result.error.issues.map(({ path, message }) => `${path.join('.') || 'file'}: ${message}`),
    );
  }
  const keys = readKeys(result.data, context);
  const faults = findFaults(result.data, { ...context, keys });
  if (faults.length > 0) throw new RoutesFileError(faults);
  return toTable(result.data, keys);
};

/** Resolves aliases, which serializers write for repeated values. The parser limits their expansion. */
const readDocument = (document: Document): unknown => {
  try {
    return document.toJS();
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error;
    throw new RoutesFileError([`YAML: ${error.message}`]);
  }
};

/** Keys, or faults, of the providers with an active route. */
type Keys = ReadonlyMap<string, ProviderKey>;

const readKeys = (file: RoutesFile, { providerKey }: RoutesFileContext): Keys => {
  const used = new Set(file.routes.filter(({ active }) => active).map(({ provider }) => provider));
  const providers = Object.entries(file.providers).filter(([id]) => used.has(id));
  return new Map(providers.map(([id, { api_key_env }]) => [id, providerKey(api_key_env)]));
};

const findFaults = (file: RoutesFile, context: RoutesFileContext & { readonly keys: Keys }): string[] => [
  ...repeatedIds(file),
  ...file.routes.flatMap((route) => routeFaults(route, file, context)),
  ...versionFaults(file),
  ...keyFaults(context.keys),
  ...delegatedFaults(file, 'chat'),
  ...delegatedFaults(file, 'audio_transcription'),
];

const repeatedIds = ({ routes }: RoutesFile): string[] => {
  const ids = routes.map(({ id }) => id);
  const repeated = new Set(ids.filter((id, index) => ids.indexOf(id) !== index));
  return [...repeated].map((id) => `routes.${id}: the id is repeated`);
};

const routeFaults = (route: ConfiguredRoute, file: RoutesFile, { nowMs }: RoutesFileContext): string[] => {
  const at = `routes.${route.id}`;
  const provider = Object.hasOwn(file.providers, route.provider) ? file.providers[route.provider] : undefined;
  const faults = provider === undefined ? [`${at}: there is no provider ${route.provider}`] : [];
  if (route.deployment !== undefined && provider !== undefined && provider.kind !== 'azure-openai') {
    faults.push(`${at}: only providers of the kind azure-openai have deployments`);
  }
  if (!route.active) return faults;
  const { certification } = route;
  if (certification === undefined) return [...faults, `${at}: an active route needs a certification`];
  const { fromMs, untilMs } = certifiedPeriod(certification);
  if (fromMs >= untilMs) faults.push(`${at}: the certification ends before it begins`);
  else if (nowMs < fromMs) faults.push(`${at}: the certification is not valid before ${certification.certified_at}`);
  // One that has expired is no fault of the file: it takes only its own route out.
  return faults;
};

/** Checks that the base URL matches the API: Azure OpenAI has a v1 and a dated one. */
const versionFaults = ({ providers }: RoutesFile): string[] =>
  Object.entries(providers).flatMap(([id, { kind, api_version, base_url }]) => {
    const at = `providers.${id}`;
    if (kind !== 'azure-openai') {
      return api_version === undefined ? [] : [`${at}: only the kind azure-openai has an api_version`];
    }
    const end = api_version === undefined ? '/openai/v1' : '/openai';
    return new URL(base_url).pathname.replace(/\/+$/, '').endsWith(end)
      ? []
      : [`${at}: base_url must end in /openai/v1, or in /openai with an api_version`];
  });

const keyFaults = (keys: Keys): string[] =>
  [...keys].flatMap(([id, key]) => ('fault' in key ? [`providers.${id}: ${key.fault}`] : []));

const delegatedFaults = (file: RoutesFile, service: keyof RoutesFile['delegated']): string[] =>
  file.delegated[service].flatMap((id) => {
    const at = `delegated.${service}`;
    const route = file.routes.find((candidate) => candidate.id === id);
    if (route === undefined) return [`${at}: there is no route ${id}`];
    return route.service === service ? [] : [`${at}: the route ${id} serves ${route.service}`];
  });

/** Returns the period from `certified_at` until `expires_at`. A date means its first instant in UTC. */
const certifiedPeriod = (certification: { certified_at: string; expires_at: string }) => ({
  fromMs: Date.parse(certification.certified_at),
  untilMs: Date.parse(certification.expires_at),
});

const toTable = (file: RoutesFile, keys: Keys): RouteTable => {
  const providers = new Map(
    Object.entries(file.providers).flatMap(([id, { base_url, name, kind, api_version }]): [string, Provider][] => {
      const key = keys.get(id);
      if (key === undefined || 'fault' in key) return [];
      const { origin, pathname } = new URL(base_url);
      const basePath = pathname.replace(/\/+$/, '');
      return [[id, { id, kind, name, origin, basePath, apiKey: key.value, apiVersion: api_version }]];
    }),
  );
  return createRouteTable({
    routes: file.routes.flatMap((route) => toRoute(route, providers)),
    configuredModels: file.routes,
    delegatedChat: file.delegated.chat,
    delegatedTranscription: file.delegated.audio_transcription,
  });
};

const toRoute = (route: ConfiguredRoute, providers: ReadonlyMap<string, Provider>): Route[] => {
  const { id, model, upstream_model, deployment = upstream_model, data_zone, active, certification } = route;
  const provider = providers.get(route.provider);
  if (!active || certification === undefined || provider === undefined) return [];
  const { fromMs, untilMs } = certifiedPeriod(certification);
  const common = {
    id,
    model,
    upstreamModel: upstream_model,
    deployment,
    provider,
    dataZone: data_zone,
    certification: certification.reference,
    certifiedFromMs: fromMs,
    certifiedUntilMs: untilMs,
  };
  return route.service === 'audio_transcription'
    ? [{ ...common, service: route.service, price: route.price }]
    : [
        {
          ...common,
          service: route.service,
          price: route.price,
          outputTokensMax: route.output_tokens_max,
          contextTokensMax: route.context_tokens_max,
        },
      ];
};

/** A provider's key, or a fault that does not quote it. */
type ProviderKey = { readonly value: string } | { readonly fault: string };

/** Reads a key from the variable `<name>`, the file at `<name>_FILE`, or the file `<name>` in `PROVIDER_KEYS_DIR`. */
export type ReadProviderKey = (name: string) => ProviderKey;

const KEY_BYTES_MAX = 16 * 1024;
/** Valid after `Bearer ` in a header. */
const KEY = /^[\x21-\x7e]+$/;

/**
 * Creates a reader of keys in an environment and in the files that it names. Files are read on each call, so that writing
 * the file and reloading rotates a key. Surrounding whitespace is ignored.
 */
export const providerKeysFrom =
  (environment: Readonly<Record<string, string | undefined>>): ReadProviderKey =>
  (name) => {
    const value = environment[name] ?? '';
    const file = environment[`${name}_FILE`] ?? '';
    if (value !== '' && file !== '') return { fault: `both ${name} and ${name}_FILE are set` };
    if (file !== '') return keyInFile(`${name}_FILE`, file);
    const directory = environment['PROVIDER_KEYS_DIR'] ?? '';
    if (value === '' && directory !== '') return keyInFile(`${name} in PROVIDER_KEYS_DIR`, join(directory, name));
    return value === '' ? { fault: `the variable ${name} is not set, nor is ${name}_FILE` } : asKey(name, value);
  };

const keyInFile = (name: string, file: string): ProviderKey => {
  try {
    const found = statSync(file);
    // Directories have a size too.
    if (found.isFile() && found.size > KEY_BYTES_MAX) return { fault: `the file of ${name} is too large for a key` };
    return asKey(`the file of ${name}`, readFileSync(file, 'utf8').trim());
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    return { fault: `the file of ${name} cannot be read (${code})` };
  }
};

const asKey = (source: string, value: string): ProviderKey =>
  KEY.test(value) ? { value } : { fault: `${source} holds no key: expected one word of printable ASCII` };
