import { z } from 'zod';
import { countTokens } from './count-tokens.ts';
import { readDirectives } from './directives.ts';
import { type Exchange, playDirectives, sendJson } from './exchange.ts';
import { seededBytes } from './generate-answer.ts';
import { readJson } from './read-body.ts';
import { answeredModel, usageOf } from './wire.ts';

const DIMENSIONS = 256;
const DIMENSIONS_MAX = 4096;

const tokens = z.array(z.number().int().nonnegative()).min(1);

const embeddingRequest = z.looseObject({
  model: z.string().min(1),
  input: z.union([z.string().min(1), tokens, z.array(z.union([z.string().min(1), tokens])).min(1)]),
  dimensions: z.number().int().min(1).max(DIMENSIONS_MAX).nullish(),
  encoding_format: z.enum(['float', 'base64']).nullish(),
});

type Input = string | readonly number[];

/**
 * Handles POST /v1/embeddings: unit vectors determined by model and input, as floats or base64 of little-endian
 * float32.
 */
export const answerEmbeddings = async (exchange: Exchange): Promise<void> => {
  const request = await readJson(exchange.req, embeddingRequest);
  const inputs = toInputs(request.input);
  const first = inputs[0];
  const { directives } = readDirectives(typeof first === 'string' ? first : '');
  if (!(await playDirectives(exchange, directives))) return;
  const inputTokens = inputs.reduce((sum, input) => sum + countInput(input), 0);
  const { prompt_tokens } = usageOf(inputTokens, 0, { ...directives, completion_tokens: 0 });
  const model = answeredModel(request.model, directives);
  exchange.counter.billed({ model, inputTokens: prompt_tokens });
  const data = inputs.map((input, index) => {
    const vector = toVector(`${request.model}:${JSON.stringify(input)}`, request.dimensions ?? DIMENSIONS);
    const embedding =
      request.encoding_format === 'base64' ? Buffer.from(vector.buffer).toString('base64') : [...vector];
    return { object: 'embedding', index, embedding };
  });
  const usage = directives.no_usage ? {} : { usage: { prompt_tokens, total_tokens: prompt_tokens } };
  sendJson(exchange, { object: 'list', data, model, ...usage }, directives);
};

const toInputs = (input: z.infer<typeof embeddingRequest>['input']): readonly Input[] => {
  if (typeof input === 'string') return [input];
  const isOneTokenList = input.every((element) => typeof element === 'number');
  return isOneTokenList ? [input] : input.filter((element) => typeof element !== 'number');
};

/** Counts token numbers as they are, text by the sandbox's rule. */
const countInput = (input: Input): number => (typeof input === 'string' ? countTokens(input) : input.length);

const toVector = (seed: string, dimensions: number): Float32Array => {
  const bytes = seededBytes(seed, dimensions * 2);
  const raw = Float64Array.from({ length: dimensions }, (_, index) => bytes.readInt16LE(index * 2) + 0.5);
  const length = Math.hypot(...raw);
  return Float32Array.from(raw, (value) => value / length);
};
