import { createHash } from 'node:crypto';
import type { Directives } from './directives.ts';

/** Characters (Unicode code points) per token. */
const CHARACTERS_PER_TOKEN = 4;

/** Counts Unicode code points, so that an emoji counts once in every encoding. */
const countCharacters = (text: string): number => {
  let characters = 0;
  for (const _character of text) characters += 1;
  return characters;
};

/** Counts tokens: one per four characters, rounded up, at least one. */
export const countTokens = (text: string): number =>
  Math.max(1, Math.ceil(countCharacters(text) / CHARACTERS_PER_TOKEN));

/** Cuts a text to at most `tokensMax` tokens. */
const cutToTokens = (text: string, tokensMax: number): string =>
  [...text].slice(0, tokensMax * CHARACTERS_PER_TOKEN).join('');

const WORDS =
  'amber basil cedar delta ember fjord grove harbour island jasmine kelp lantern meadow nectar orchard pebble quartz river saffron timber umber valley willow yarrow zephyr'.split(
    ' ',
  );
const WORDS_MIN = 12;
const WORDS_SPREAD = 28;

/** Inputs of an answer: the same values always give the same text. */
export interface AnswerRequest {
  /** All inputs, serialized. */
  readonly seed: string;
  /** Text of the prompt without directives, for `[[echo]]`. */
  readonly text: string;
  readonly directives: Directives;
  readonly tokensMax?: number | undefined;
  readonly stop?: readonly string[];
}

/** A generated text with its stream chunks and finish reason. */
export interface Answer {
  readonly text: string;
  readonly chunks: string[];
  readonly tokens: number;
  readonly finishReason: 'stop' | 'length';
}

/** Generates bytes determined by the seed. */
export const seededBytes = (seed: string, length: number): Buffer => {
  const blocks: Buffer[] = [];
  for (let block = 0; block * 32 < length; block += 1) {
    blocks.push(createHash('sha256').update(`${block}:`).update(seed).digest());
  }
  return Buffer.concat(blocks).subarray(0, length);
};

/** Generates words determined by the seed, joined by spaces. */
export const seededWords = (seed: string, count: number): string =>
  [...seededBytes(seed, count)].map((byte) => WORDS[byte % WORDS.length]).join(' ');

/** Generates the answer to a prompt: seeded words, or the text that the directives request. */
export const generateAnswer = (request: AnswerRequest): Answer => {
  const { directives } = request;
  const whole = cutAtStop(rawText(request), request.stop ?? []);
  const isCut = request.tokensMax !== undefined && countTokens(whole) > request.tokensMax;
  const text = isCut ? cutToTokens(whole, request.tokensMax ?? 0) : whole;
  return {
    text,
    chunks: directives.chunks === undefined ? wordChunks(text) : evenChunks(text, directives.chunks),
    tokens: countTokens(text),
    finishReason: isCut ? 'length' : 'stop',
  };
};

const rawText = ({ seed, text, directives }: AnswerRequest): string => {
  if (directives.echo) return text;
  if (directives.answer_tokens !== undefined) {
    return cutToTokens(seededWords(seed, directives.answer_tokens), directives.answer_tokens).padEnd(
      directives.answer_tokens * 4,
      '.',
    );
  }
  const [first = 0] = seededBytes(seed, 1);
  return seededWords(seed, directives.chunks ?? WORDS_MIN + (first % WORDS_SPREAD));
};

const cutAtStop = (text: string, stop: readonly string[]): string => {
  const ends = stop
    .filter((sequence) => sequence !== '')
    .map((sequence) => text.indexOf(sequence))
    .filter((index) => index >= 0);
  return ends.length === 0 ? text : text.slice(0, Math.min(...ends));
};

const wordChunks = (text: string): string[] => text.match(/\s*\S+|\s+$/g) ?? [text];

const evenChunks = (text: string, count: number): string[] => {
  const characters = [...text];
  const chunks: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const start = Math.floor((index * characters.length) / count);
    const end = Math.floor(((index + 1) * characters.length) / count);
    if (end > start) chunks.push(characters.slice(start, end).join(''));
  }
  return chunks;
};

/** A JSON schema as it arrived. */
type Schema = Readonly<Record<string, unknown>>;

/** Deeper levels are left out where the schema allows it, so that recursive schemas end. */
const DEPTH_MAX = 6;

const FORMATS: Readonly<Record<string, string>> = {
  date: '2026-10-01',
  'date-time': '2026-10-01T12:00:00Z',
  time: '12:00:00Z',
  duration: 'PT1H',
  email: 'ada@example.com',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.com/',
  uuid: '0199a3f0-7c00-7000-8000-000000000000',
};

/** Makes an instance of a schema: always the same one, with every property, and lists as short as they may be but not empty. */
export const sampleOfSchema = (schema: unknown, text: string): unknown =>
  sample(schema, { root: schema, text, depth: 0 });

interface Context {
  readonly root: unknown;
  /** Fills strings. */
  readonly text: string;
  readonly depth: number;
}

const sample = (given: unknown, context: Context): unknown => {
  if (!isSchema(given) || context.depth > 2 * DEPTH_MAX) return null;
  const schema = resolved(given, context.root);
  if ('const' in schema) return schema['const'];
  if (Array.isArray(schema['enum'])) return schema['enum'][0];
  const deeper = { ...context, depth: context.depth + 1 };
  const choices = [schema['anyOf'], schema['oneOf']].find(Array.isArray);
  if (choices !== undefined) {
    // Past the depth, the last choice is usually null or the plain one.
    return sample(context.depth > DEPTH_MAX ? choices.at(-1) : choices[0], deeper);
  }
  return sampleOfType(typeOf(schema), schema, deeper);
};

const sampleOfType = (type: unknown, schema: Schema, context: Context): unknown => {
  switch (type) {
    case 'object':
      return sampleObject(schema, context);
    case 'array': {
      const least = numberIn(schema, 'minItems') ?? (context.depth > DEPTH_MAX ? 0 : 1);
      const length = Math.min(least, numberIn(schema, 'maxItems') ?? least);
      return Array.from({ length }, () => sample(schema['items'] ?? {}, context));
    }
    case 'string':
      return sampleString(schema, context.text);
    case 'number':
    case 'integer':
      return sampleNumber(schema);
    case 'boolean':
      return true;
    default:
      return null;
  }
};

const sampleObject = (schema: Schema, context: Context): unknown => {
  const properties = isSchema(schema['properties']) ? schema['properties'] : {};
  const required: readonly unknown[] = Array.isArray(schema['required']) ? schema['required'] : [];
  const names = Object.keys(properties).filter((name) => context.depth <= DEPTH_MAX || required.includes(name));
  return Object.fromEntries(names.map((name) => [name, sample(properties[name], context)]));
};

const sampleString = (schema: Schema, text: string): string => {
  const format = FORMATS[String(schema['format'])];
  if (format !== undefined) return format;
  const least = numberIn(schema, 'minLength') ?? 0;
  return text.padEnd(least, '.').slice(0, numberIn(schema, 'maxLength') ?? Math.max(text.length, least));
};

const sampleNumber = (schema: Schema): number => {
  const { exclusiveMinimum, exclusiveMaximum } = schema;
  const least = numberIn(schema, 'minimum') ?? (typeof exclusiveMinimum === 'number' ? exclusiveMinimum + 1 : 1);
  const most = numberIn(schema, 'maximum') ?? (typeof exclusiveMaximum === 'number' ? exclusiveMaximum - 1 : least);
  const step = numberIn(schema, 'multipleOf') ?? 1;
  return Math.min(Math.ceil(least / step) * step, Math.max(most, Math.min(least, most)));
};

/** Follows a reference within the document, and joins the parts of `allOf`. */
const resolved = (schema: Schema, root: unknown): Schema => {
  const { $ref: reference, allOf } = schema;
  if (typeof reference === 'string' && reference.startsWith('#')) {
    const target = reference
      .slice(1)
      .split('/')
      .filter((part) => part !== '')
      .reduce<unknown>((at, part) => (isSchema(at) ? at[part] : undefined), root);
    return isSchema(target) && target !== schema ? target : {};
  }
  if (!Array.isArray(allOf)) return schema;
  const parts = allOf.filter(isSchema).map((part) => resolved(part, root));
  const properties = Object.assign({}, ...[schema, ...parts].map((part) => part['properties'] ?? {}));
  return Object.assign({}, ...parts, schema, { properties });
};

const typeOf = (schema: Schema): unknown => {
  const { type } = schema;
  if (Array.isArray(type)) return type.find((each) => each !== 'null');
  return type ?? (isSchema(schema['properties']) ? 'object' : 'items' in schema ? 'array' : 'string');
};

const numberIn = (schema: Schema, name: string): number | undefined => {
  const value = schema[name];
  return typeof value === 'number' ? value : undefined;
};

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
