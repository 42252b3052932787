import {
  gatewayChatRequestSchema,
  gatewayCompletionRequestSchema,
  gatewayEmbeddingsRequestSchema,
} from '@svc/contracts';
import { z } from 'zod';
import type { TokenRoute } from '../routes/index.ts';

/** A request in the common wire format, as far as the gateway looks at it. */
export interface GatewayRequest {
  readonly model: string;
  readonly isStreamed: boolean;
  /** The most output tokens of each answer; undefined where the request sets no limit. */
  readonly outputTokensMax: number | undefined;
  /** Answers that are generated; none by embeddings. */
  readonly answersCount: number;
}

/** One of the endpoints that forward. */
export interface Endpoint {
  readonly service: TokenRoute['service'];
  /** Below a provider's base URL. */
  readonly path: string;
  readonly schema: z.ZodType<GatewayRequest>;
}

/** More answers than any provider gives to one request; a larger number is the provider's to refuse. */
const ANSWERS_MAX = 2_048;

/** Chat completions. */
export const chatEndpoint: Endpoint = {
  service: 'chat',
  path: '/chat/completions',
  schema: gatewayChatRequestSchema.transform((request) => ({
    model: request.model,
    isStreamed: request.stream === true,
    outputTokensMax: count(request['max_completion_tokens']) ?? count(request['max_tokens']),
    answersCount: Math.min(count(request['n']) ?? 1, ANSWERS_MAX),
  })),
};

/** Legacy text completions. */
export const completionsEndpoint: Endpoint = {
  service: 'completions',
  path: '/completions',
  schema: gatewayCompletionRequestSchema.transform((request) => {
    const perPrompt = Math.max(count(request['n']) ?? 1, count(request['best_of']) ?? 1);
    return {
      model: request.model,
      isStreamed: request.stream === true,
      outputTokensMax: count(request['max_tokens']),
      answersCount: Math.min(promptsIn(request.prompt) * perPrompt, ANSWERS_MAX),
    };
  }),
};

/** Text embeddings. */
export const embeddingsEndpoint: Endpoint = {
  service: 'embeddings',
  path: '/embeddings',
  schema: gatewayEmbeddingsRequestSchema.transform(({ model }) => ({
    model,
    isStreamed: false,
    outputTokensMax: undefined,
    answersCount: 0,
  })),
};

const countSchema = z.int().positive();

/** A whole number above 0; whatever else stands there is the provider's to refuse. */
const count = (value: unknown): number | undefined => {
  if (value === undefined) return undefined;
  const parsed = countSchema.safeParse(value);
  return parsed.success ? parsed.data : undefined;
};

/** A prompt is one text or one list of tokens, or a list of either. */
const promptsIn = (prompt: unknown): number =>
  Array.isArray(prompt) && typeof prompt[0] !== 'number' ? Math.max(1, prompt.length) : 1;
