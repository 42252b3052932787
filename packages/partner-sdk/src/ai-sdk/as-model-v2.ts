import type {
  FinishReason,
  FinishReasonV2,
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
export const asModelV2 = (model: SvcModel): SvcModelV2 => ({
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
