import { createSvcClient } from '../inference/index.ts';
import type { AccessTokenSource } from '../tokens/index.ts';
import { asModelV2 } from './as-model-v2.ts';
import { generate } from './generate.ts';
import { PROVIDER } from './provider-name.ts';
import type { SvcModel, SvcModelV2 } from './specification.ts';
import { stream } from './stream.ts';

export interface SvcOptions {
  /** Base URL of the service, without `/v1`. */
  readonly baseUrl: string;
  /** Access token of one user, or a function that returns a fresh one, such as `userTokens.of(svcUserId)`. */
  readonly accessToken: string | AccessTokenSource;
  /** Allows http to hosts that are not loopback. Never set it in production. */
  readonly allowInsecure?: boolean | undefined;
  /** A replacement for `fetch`, for example one with a proxy. */
  readonly fetch?: typeof fetch | undefined;
}

/** Members that the AI SDK asks of a provider besides language models. Each throws `TypeError`. */
interface OtherModels {
  readonly embeddingModel: (name: string) => never;
  readonly textEmbeddingModel: (name: string) => never;
  readonly imageModel: (name: string) => never;
}

/**
 * A provider for the Vercel AI SDK 6 and 7. Called, it returns a language model: the service chooses the model, so there
 * is no name to give. In `createProviderRegistry({ svc })` any name stands for it, such as `svc:chat`.
 */
export interface Svc extends OtherModels {
  (): SvcModel;
  readonly specificationVersion: 'v3';
  readonly languageModel: (name?: string) => SvcModel;
}

/** A provider for the Vercel AI SDK 5, like `Svc`. */
export interface SvcV2 extends OtherModels {
  (): SvcModelV2;
  readonly languageModel: (name?: string) => SvcModelV2;
}

/**
 * Creates a provider for the Vercel AI SDK 6 and 7, for one user: `generateText({ model: svc(), prompt })`. Errors are
 * `SvcError`; the AI SDK retries those that nothing was billed for.
 */
export const createSvc = ({ accessToken, ...options }: SvcOptions): Svc => {
  const tokens: AccessTokenSource = typeof accessToken === 'string' ? async () => accessToken : accessToken;
  const client = createSvcClient({ ...options, tokens });
  const model = (): SvcModel => ({
    specificationVersion: 'v3',
    provider: PROVIDER,
    modelId: PROVIDER,
    // The service fetches no addresses: the AI SDK downloads files and sends their bytes.
    supportedUrls: {},
    doGenerate: (call) => generate(client, call),
    doStream: (call) => stream(client, call),
  });
  return Object.assign(model, { ...otherModels, specificationVersion: 'v3' as const, languageModel: () => model() });
};

/** Creates a provider for the Vercel AI SDK 5, which takes models of version 2 of its specification only. */
export const createSvcV2 = (options: SvcOptions): SvcV2 => {
  const svc = createSvc(options);
  const model = (): SvcModelV2 => asModelV2(svc());
  return Object.assign(model, { ...otherModels, languageModel: () => model() });
};

const refuse = (kind: string) => (): never => {
  throw new TypeError(`svc has no ${kind} models for apps.`);
};

const otherModels: OtherModels = {
  embeddingModel: refuse('embedding'),
  textEmbeddingModel: refuse('embedding'),
  imageModel: refuse('image'),
};
