import type { ChatCompletion } from '../inference/chat.ts';
import { createSvcClient, type SvcClient } from '../inference/svc-client.ts';
import type { AccessTokenSource } from '../user-tokens.ts';
import { PROVIDER, toRequest } from './request.ts';
import { asCallError, reasoningOf, stream, toFinishReason, toResponseMetadata, toUsage } from './response.ts';
import type {
  CallOptions,
  Content,
  FinishReason,
  FinishReasonV2,
  GenerateResult,
  StreamPart,
  StreamPartV2,
  SvcModel,
  SvcModelV2,
  Usage,
  UsageV2,
  Warning,
  WarningV2,
} from './specification.ts';

/** Translates a model's answers to version 2 of the specification. Calls are read in either version. */
const asModelV2 = (model: SvcModel): SvcModelV2 => ({
  ...model,
  specificationVersion: 'v2',
  doGenerate: async (call) => {
    const { finishReason, usage, warnings, ...rest } = await model.doGenerate(call);
    return {
      ...rest,
      finishReason: toFinishReasonV2(finishReason),
      usage: toUsageV2(usage),
      warnings: warnings.map(toWarningV2),
    };
  },
  doStream: async (call) => {
    const { stream, request } = await model.doStream(call);
    const translate = new TransformStream<StreamPart, StreamPartV2>({
      transform: (part, controller) => controller.enqueue(toPartV2(part)),
    });
    return { stream: stream.pipeThrough(translate), request };
  },
});

const toPartV2 = (part: StreamPart): StreamPartV2 => {
  switch (part.type) {
    case 'stream-start':
      return { type: part.type, warnings: part.warnings.map(toWarningV2) };
    case 'finish':
      return { type: part.type, finishReason: toFinishReasonV2(part.finishReason), usage: toUsageV2(part.usage) };
    default:
      return part;
  }
};

const toFinishReasonV2 = ({ unified, raw }: FinishReason): FinishReasonV2 =>
  unified === 'other' && raw === undefined ? 'unknown' : unified;

const toUsageV2 = ({ inputTokens: input, outputTokens: output }: Usage): UsageV2 => ({
  inputTokens: input.total,
  outputTokens: output.total,
  totalTokens: input.total === undefined || output.total === undefined ? undefined : input.total + output.total,
  reasoningTokens: output.reasoning,
  cachedInputTokens: input.cacheRead,
});

const toWarningV2 = ({ feature }: Warning): WarningV2 => ({ type: 'other', message: `${feature} is not supported` });

/** Requests a whole completion. */
const generate = async (client: SvcClient, call: CallOptions): Promise<GenerateResult> => {
  const { request, warnings } = toRequest(call);
  const completion = await client.chat(request, { signal: call.abortSignal }).catch((error: unknown) => {
    throw asCallError(error);
  });
  const [choice] = completion.choices;
  return {
    content: choice === undefined ? [] : toContent(choice.message),
    finishReason: toFinishReason(choice?.finish_reason),
    usage: toUsage(completion.usage),
    request: { body: request },
    response: toResponseMetadata(completion),
    warnings,
  };
};

const toContent = (message: ChatCompletion['choices'][number]['message']): Content[] => {
  const reasoning = reasoningOf(message);
  const calls = message.tool_calls ?? [];
  return [
    ...(reasoning === '' ? [] : [{ type: 'reasoning' as const, text: reasoning }]),
    ...(message.content ? [{ type: 'text' as const, text: message.content }] : []),
    ...calls.map(({ id, function: called }) => ({
      type: 'tool-call' as const,
      toolCallId: id,
      toolName: called?.name ?? '',
      input: called?.arguments ?? '',
    })),
  ];
};

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
