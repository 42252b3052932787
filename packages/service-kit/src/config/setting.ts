import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { z } from 'zod';

/** Metadata of a setting. The example file, README table and start-up summary are generated from it. */
export interface SettingMetadata {
  readonly description: string;
  /** Description of valid values, shown instead of an invalid value. */
  readonly expected: string;
  readonly secret: boolean;
  readonly required: boolean;
  /** The default in environment syntax. */
  readonly default?: string;
}

/** Options common to every kind of setting. Without `default` or `optional` the variable is required. */
export interface SettingOptions<T> {
  readonly description: string;
  /** Never printed in faults or in the start-up summary. */
  readonly secret?: boolean;
  readonly default?: T;
  /** An unset variable becomes undefined. */
  readonly optional?: boolean;
}

/** Value of a setting: `undefined` only if it is optional. */
export type SettingValue<T, O> = O extends { optional: true } ? T | undefined : T;

/** Schema of one environment variable. Its input is the text, or undefined if unset. */
export type Setting<T> = z.ZodType<T, string | undefined>;

const METADATA_KEY = 'setting';

/** Returns the metadata of a `setting.*` schema; undefined for any other schema. */
export const settingMetadata = (schema: z.core.$ZodType): SettingMetadata | undefined => {
  const metadata = z.globalRegistry.get(schema)?.[METADATA_KEY];
  // Only `define` below writes this key, always with a complete SettingMetadata.
  return metadata as SettingMetadata | undefined;
};

interface Kind<T> {
  readonly expected: string;
  /** Returns undefined if the text is invalid. */
  readonly parse: (text: string) => T | undefined;
  readonly show?: (value: T) => string;
}

const define = <T, const O extends SettingOptions<T>>(kind: Kind<T>, options: O): Setting<SettingValue<T, O>> => {
  const show = kind.show ?? String;
  const isRequired = options.default === undefined && options.optional !== true;
  const metadata: SettingMetadata = {
    description: options.description,
    expected: kind.expected,
    secret: options.secret ?? false,
    required: isRequired,
    ...(options.default === undefined ? {} : { default: show(options.default) }),
  };
  const schema = z.unknown().transform((text, context): T | undefined => {
    if (text === undefined || text === '') {
      if (isRequired) context.addIssue({ code: 'custom', message: `is not set; expected ${kind.expected}` });
      return options.default;
    }
    const value = kind.parse(String(text).trim());
    if (value === undefined) context.addIssue({ code: 'custom', message: `expected ${kind.expected}` });
    return value;
  });
  // The transform yields undefined only if it adds an issue or the setting is optional.
  return schema.meta({ description: options.description, [METADATA_KEY]: metadata }) as unknown as Setting<
    SettingValue<T, O>
  >;
};

/** Length limits in characters, and the pattern that the text must match. */
export interface StringSettingOptions extends SettingOptions<string> {
  readonly lengthMin?: number;
  readonly pattern?: RegExp;
  /** Description of valid values. */
  readonly expected?: string;
}

/** Inclusive limits. */
export interface IntegerSettingOptions extends SettingOptions<number> {
  readonly min?: number;
  readonly max?: number;
}

export interface UrlSettingOptions extends SettingOptions<string> {
  /** Schemes without the colon; default http and https. */
  readonly protocols?: readonly string[];
  /** Accepts several URLs, separated by commas, and keeps them as one text. */
  readonly isList?: boolean;
}

export interface ListSettingOptions extends SettingOptions<readonly string[]> {
  readonly itemsMin?: number;
  readonly itemLengthMin?: number;
  readonly itemPattern?: RegExp;
  /** Describes a valid item; recommended with a pattern. */
  readonly itemExpected?: string;
}

export interface ChoiceSettingOptions<V extends string> extends SettingOptions<V> {
  readonly values: readonly V[];
}

const parseInteger = (text: string, options: { min?: number; max?: number }): number | undefined => {
  if (!/^-?\d{1,15}$/.test(text)) return undefined;
  const value = Number(text);
  if (value < (options.min ?? Number.MIN_SAFE_INTEGER) || value > (options.max ?? Number.MAX_SAFE_INTEGER))
    return undefined;
  return value;
};

const integerRange = ({ min, max }: { min?: number; max?: number }): string => {
  if (min !== undefined && max !== undefined) return `an integer from ${min} to ${max}`;
  if (min !== undefined) return `an integer of at least ${min}`;
  return max === undefined ? 'an integer' : `an integer of at most ${max}`;
};

const parseUrl = (text: string, protocols: readonly string[]): string | undefined => {
  const url = URL.parse(text);
  if (url === null || !protocols.includes(url.protocol.slice(0, -1))) return undefined;
  return text.replace(/\/+$/, '');
};

const parseUrls = (text: string, protocols: readonly string[]): string | undefined => {
  const urls = text.split(',').map((url) => parseUrl(url.trim(), protocols));
  return urls.includes(undefined) ? undefined : urls.join(',');
};

/** Scheme with user, hosts, and the rest of a connection string, in which libpq takes several hosts. */
const CONNECTION_STRING = /^(postgres(?:ql)?:\/\/(?:[^/?#@]*@)?)([^/?#]+)(.*)$/s;
/** A service writes, so it wants a server that takes writes. */
const SESSION_ATTRIBUTES: readonly (string | null)[] = [null, 'read-write', 'primary'];

const parseDatabaseUrl = (text: string): string | undefined => {
  const [, start = '', hosts = '', rest = ''] = CONNECTION_STRING.exec(text) ?? [];
  const urls = hosts.split(',').map((host) => (host === '' ? null : URL.parse(`${start}${host}${rest}`)));
  const isGood = (url: URL | null) =>
    SESSION_ATTRIBUTES.includes(url?.searchParams.get('target_session_attrs') ?? null);
  return urls.includes(null) || !urls.every(isGood) ? undefined : text.replace(/\/+$/, '');
};

const parseList = (text: string, options: ListSettingOptions): readonly string[] | undefined => {
  const items = text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
  if (items.length < (options.itemsMin ?? 0)) return undefined;
  const { itemLengthMin = 1, itemPattern } = options;
  const fits = (item: string): boolean => item.length >= itemLengthMin && (itemPattern?.test(item) ?? true);
  return items.every(fits) ? items : undefined;
};

const describeList = ({ itemsMin = 0, itemLengthMin = 1, itemExpected }: ListSettingOptions): string => {
  const count = itemsMin > 0 ? ` of at least ${itemsMin} item${itemsMin === 1 ? '' : 's'}` : '';
  if (itemExpected !== undefined) return `a comma-separated list${count}, each ${itemExpected}`;
  return `a comma-separated list${count}${itemLengthMin > 1 ? `, each of at least ${itemLengthMin} characters` : ''}`;
};

const parseString = (text: string, options: StringSettingOptions): string | undefined =>
  text.length >= (options.lengthMin ?? 1) && (options.pattern?.test(text) ?? true) ? text : undefined;

const parseCertificateFile = (path: string): string | undefined => {
  try {
    new X509Certificate(readFileSync(path));
    return path;
  } catch {
    return undefined;
  }
};

const describeString = ({ expected, lengthMin = 1, pattern }: StringSettingOptions): string => {
  if (expected !== undefined) return expected;
  const length = lengthMin > 1 ? `a text of at least ${lengthMin} characters` : 'a text';
  return pattern === undefined ? length : `${length} that matches ${pattern}`;
};

const PORT_MAX = 65_535;

/** Kinds of environment variables. Each creates a zod schema with description, secrecy and default as metadata. */
export const setting = {
  /** Trimmed text. */
  string: <const O extends StringSettingOptions>(options: O) =>
    define<string, O>({ expected: describeString(options), parse: (text) => parseString(text, options) }, options),

  /** Path of a PEM file with certificates, which it reads to check that there is one. */
  certificateFile: <const O extends SettingOptions<string>>(options: O) =>
    define<string, O>(
      { expected: 'the path of a readable PEM file with certificates', parse: parseCertificateFile },
      options,
    ),

  /** URL as text without a trailing slash, or a list of URLs. */
  url: <const O extends UrlSettingOptions>(options: O) => {
    const { protocols = ['http', 'https'], isList = false } = options;
    const expected = `a URL with the scheme ${protocols.join(' or ')}${isList ? ', or a comma-separated list of them' : ''}`;
    const parse = isList ? parseUrls : parseUrl;
    return define<string, O>({ expected, parse: (text) => parse(text, protocols) }, options);
  },

  /** Connection string of PostgreSQL, with one host or several. */
  databaseUrl: <const O extends SettingOptions<string>>(options: O) =>
    define<string, O>(
      {
        expected:
          'a URL with the scheme postgres or postgresql and one host or several, separated by commas; target_session_attrs may be read-write or primary',
        parse: parseDatabaseUrl,
      },
      options,
    ),

  /** TCP port; 0 lets the system choose one. */
  port: <const O extends SettingOptions<number>>(options: O) =>
    define<number, O>(
      { expected: `a port (0 to ${PORT_MAX})`, parse: (text) => parseInteger(text, { min: 0, max: PORT_MAX }) },
      options,
    ),

  /** Integer. Put the unit into the variable's name. */
  integer: <const O extends IntegerSettingOptions>(options: O) =>
    define<number, O>({ expected: integerRange(options), parse: (text) => parseInteger(text, options) }, options),

  /** `true` or `false`, also `1` or `0`. */
  boolean: <const O extends SettingOptions<boolean>>(options: O) =>
    define<boolean, O>(
      {
        expected: 'true or false',
        parse: (text) => ({ true: true, '1': true, false: false, '0': false })[text.toLowerCase()],
      },
      options,
    ),

  /** Items separated by commas. Surrounding blanks and empty items are dropped. */
  list: <const O extends ListSettingOptions>(options: O) =>
    define<readonly string[], O>(
      { expected: describeList(options), parse: (text) => parseList(text, options), show: (items) => items.join(',') },
      options,
    ),

  choice: <const V extends string, const O extends ChoiceSettingOptions<V>>(options: O & { values: readonly V[] }) =>
    define<V, O>(
      {
        expected: `one of ${options.values.join(', ')}`,
        parse: (text) => options.values.find((value) => value === text),
      },
      options,
    ),
} as const;

/**
 * Lets a cross-field rule (`superRefine`) run once the variables that it reads are valid, also if others are not, so that
 * a failed start lists its faults too.
 */
export const whenValid = (
  ...names: readonly string[]
): { readonly when: (payload: z.core.ParsePayload) => boolean } => ({
  when: ({ issues }) => !issues.some(({ path }) => names.includes(String(path?.[0]))),
});
