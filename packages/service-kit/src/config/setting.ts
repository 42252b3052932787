import { z } from 'zod';

/** What a setting says of itself; the example file, the README table and the start-up summary are made from it. */
export interface SettingMetadata {
  description: string;
  /** What a value must be, in words: shown in place of the value when it is wrong. */
  expected: string;
  secret: boolean;
  required: boolean;
  /** The default as one would write it in the environment. */
  default?: string;
}

/** What every kind of setting takes. Without `default` and `optional` the variable must be set. */
export interface SettingOptions<T> {
  description: string;
  /** Never printed, neither in faults nor in the start-up summary. */
  secret?: boolean;
  default?: T;
  /** Unset reads as undefined. */
  optional?: boolean;
}

/** The value of a setting: `undefined` only where it is optional. */
export type SettingValue<T, O> = O extends { optional: true } ? T | undefined : T;

/** Schema of one environment variable; its input is the text, or undefined where unset. */
export type Setting<T> = z.ZodType<T, string | undefined>;

const METADATA_KEY = 'setting';

/** Reads the metadata that a `setting.*` schema carries; undefined for any other schema. */
export const settingMetadata = (schema: z.core.$ZodType): SettingMetadata | undefined => {
  const metadata = z.globalRegistry.get(schema)?.[METADATA_KEY];
  // Only `define` below writes this key, always with a whole SettingMetadata.
  return metadata as SettingMetadata | undefined;
};

interface Kind<T> {
  expected: string;
  /** Undefined: the text is not a value of this kind. */
  parse: (text: string) => T | undefined;
  show?: (value: T) => string;
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
  // The transform yields undefined only where it also adds an issue, or where the setting is optional.
  return schema.meta({ description: options.description, [METADATA_KEY]: metadata }) as unknown as Setting<
    SettingValue<T, O>
  >;
};

/** Limits of a text setting, in characters, and the pattern that it must match. */
export interface StringSettingOptions extends SettingOptions<string> {
  lengthMin?: number;
  pattern?: RegExp;
  /** Says in words what is wanted. */
  expected?: string;
}

/** Limits of an integer setting, both inclusive. */
export interface IntegerSettingOptions extends SettingOptions<number> {
  min?: number;
  max?: number;
}

/** What a URL setting takes. */
export interface UrlSettingOptions extends SettingOptions<string> {
  /** Schemes without the colon; default http and https. */
  protocols?: readonly string[];
  /** Takes several, separated by commas, and keeps them in one text. */
  isList?: boolean;
}

/** What a list setting takes: a comma-separated text. */
export interface ListSettingOptions extends SettingOptions<readonly string[]> {
  itemsMin?: number;
  itemLengthMin?: number;
  itemPattern?: RegExp;
  /** Describes an item in words; wanted beside a pattern. */
  itemExpected?: string;
}

/** What a choice setting takes. */
export interface ChoiceSettingOptions<V extends string> extends SettingOptions<V> {
  values: readonly V[];
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

const describeString = ({ expected, lengthMin = 1, pattern }: StringSettingOptions): string => {
  if (expected !== undefined) return expected;
  const length = lengthMin > 1 ? `a text of at least ${lengthMin} characters` : 'a text';
  return pattern === undefined ? length : `${length} that matches ${pattern}`;
};

const PORT_MAX = 65_535;

/** Kinds of environment variables. Each makes a zod schema that carries description, secrecy and default as metadata. */
export const setting = {
  /** A text, trimmed. */
  string: <const O extends StringSettingOptions>(options: O) =>
    define<string, O>({ expected: describeString(options), parse: (text) => parseString(text, options) }, options),

  /** A URL, kept as text without a slash at its end; or a list of them. */
  url: <const O extends UrlSettingOptions>(options: O) => {
    const { protocols = ['http', 'https'], isList = false } = options;
    const expected = `a URL with the scheme ${protocols.join(' or ')}${isList ? ', or a comma-separated list of them' : ''}`;
    const parse = isList ? parseUrls : parseUrl;
    return define<string, O>({ expected, parse: (text) => parse(text, protocols) }, options);
  },

  /** A TCP port; 0 lets the system choose one. */
  port: <const O extends SettingOptions<number>>(options: O) =>
    define<number, O>(
      { expected: `a port (0 to ${PORT_MAX})`, parse: (text) => parseInteger(text, { min: 0, max: PORT_MAX }) },
      options,
    ),

  /** An integer; put its unit into the variable's name. */
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

  /** Items separated by commas; blanks around them and empty ones are dropped. */
  list: <const O extends ListSettingOptions>(options: O) =>
    define<readonly string[], O>(
      { expected: describeList(options), parse: (text) => parseList(text, options), show: (items) => items.join(',') },
      options,
    ),

  /** One of a closed set of words. */
  choice: <const V extends string, const O extends ChoiceSettingOptions<V>>(options: O & { values: readonly V[] }) =>
    define<V, O>(
      {
        expected: `one of ${options.values.join(', ')}`,
        parse: (text) => options.values.find((value) => value === text),
      },
      options,
    ),
} as const;
