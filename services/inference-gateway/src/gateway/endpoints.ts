import {
  gatewayChatRequestSchema,
  gatewayCompletionRequestSchema,
  gatewayEmbeddingsRequestSchema,
} from '@svc/contracts';
import { parseOrThrow } from '@svc/service-kit';
import type { z } from 'zod';
import type { TokenRoute } from '../routes/index.ts';
import { isRecord, largerLimit, type Media, mediaOf, NO_MEDIA } from '../wire/index.ts';

/** A request in the common wire format, as far as the gateway looks at it. */
export interface GatewayRequest {
  readonly model: string;
  readonly isStreamed: boolean;
  /** The most output tokens of each answer; undefined where the request sets no limit. */
  readonly outputTokensMax: number | undefined;
  /** Answers that are generated; none by embeddings. */
  readonly answersCount: number;
  readonly media: Media;
}

/** One of the endpoints that forward. */
export interface Endpoint {
  readonly service: TokenRoute['service'];
  /** Below a provider's base URL. */
  readonly path: string;
  /** Reads a request body that is parsed already. Throws the 422 of the contract. */
  readonly read: (body: unknown) => GatewayRequest;
}

/** More answers than any provider gives to one request; a larger number is the provider's to refuse. */
const ANSWERS_MAX = 2_048;

/** A body as far as it is looked at; the other members are of any kind. */
interface Body {
  readonly [name: string]: unknown;
  readonly model: string;
}

/**
 * Reads a body that is as it should be without the schema, which copies every message to name faults that are hardly ever
 * there; with the schema, where it is not.
 */
const reader =
  (schema: z.ZodType<Body>, fits: (body: Body) => boolean, read: (body: Body) => GatewayRequest): Endpoint['read'] =>
  (body) =>
    read(hasModel(body) && fits(body) ? body : parseOrThrow(schema, body, 'body'));

const hasModel = (body: unknown): body is Body =>
  isRecord(body) && typeof body['model'] === 'string' && body['model'].length > 0;

const hasStreamFlag = ({ stream }: Body): boolean =>
  stream === undefined || stream === null || typeof stream === 'boolean';

const hasMessages = ({ messages }: Body): boolean =>
  Array.isArray(messages) && messages.length > 0 && messages.every(isRecord);

/** Chat completions. */
export const chatEndpoint: Endpoint = {
  service: 'chat',
  path: '/chat/completions',
  read: reader(
    gatewayChatRequestSchema,
    (body) => hasStreamFlag(body) && hasMessages(body),
    (body) => ({
      model: body.model,
      isStreamed: body['stream'] === true,
      outputTokensMax: largerLimit(count(body['max_completion_tokens']), count(body['max_tokens'])),
      answersCount: Math.min(count(body['n']) ?? 1, ANSWERS_MAX),
      media: mediaOf(body['messages']),
    }),
  ),
};

/** Legacy text completions. */
export const completionsEndpoint: Endpoint = {
  service: 'completions',
  path: '/completions',
  read: reader(
    gatewayCompletionRequestSchema,
    (body) => hasStreamFlag(body) && 'prompt' in body,
    (body) => {
      const perPrompt = Math.max(count(body['n']) ?? 1, count(body['best_of']) ?? 1);
      return {
        model: body.model,
        isStreamed: body['stream'] === true,
        outputTokensMax: count(body['max_tokens']),
        answersCount: Math.min(promptsIn(body['prompt']) * perPrompt, ANSWERS_MAX),
        media: NO_MEDIA,
      };
    },
  ),
};

/** Text embeddings. */
export const embeddingsEndpoint: Endpoint = {
  service: 'embeddings',
  path: '/embeddings',
  read: reader(
    gatewayEmbeddingsRequestSchema,
    (body) => 'input' in body,
    ({ model }) => ({ model, isStreamed: false, outputTokensMax: undefined, answersCount: 0, media: NO_MEDIA }),
  ),
};

/** A whole number above 0, however large; whatever else stands there is the provider's to refuse. */
const count = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isInteger(value) && value > 0 ? value : undefined;

/** A prompt is one text or one list of tokens, or a list of either. */
const promptsIn = (prompt: unknown): number =>
  Array.isArray(prompt) && typeof prompt[0] !== 'number' ? Math.max(1, prompt.length) : 1;
