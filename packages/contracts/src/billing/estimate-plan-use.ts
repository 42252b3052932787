import type { Locale } from '../auth/accounts.ts';
import type { PriceList } from '../inference-gateway/prices.ts';
import type { Plan } from './plans.ts';

/** Tokens of one short chat: a question of about 300 words with its context, and an answer of about 200 words. */
export const SHORT_CHAT = { inputTokens: 400, outputTokens: 300 } as const;

/** Uses that a month's limit pays for, each alone. Undefined where the plan or the server lacks the service, or it costs nothing. */
interface PlanUseEstimate {
  readonly shortChats: number | undefined;
  readonly audioMinutes: number | undefined;
}

const TOKENS_PER_PRICE = 1_000_000;
const SECONDS_PER_MINUTE = 60;

/** Estimates what the monthly limit of a plan pays for, from the prices of delegated inference, rounded down to two digits. */
export const estimatePlanUse = (
  { services, monthly_limit_micros: limit }: Pick<Plan, 'services' | 'monthly_limit_micros'>,
  { chat, audio_transcription: audio }: PriceList['delegated'],
): PlanUseEstimate => {
  const chatMicros =
    chat === null
      ? 0
      : (SHORT_CHAT.inputTokens * chat.input_micros_per_million +
          SHORT_CHAT.outputTokens * chat.output_micros_per_million) /
        TOKENS_PER_PRICE;
  const minuteMicros = audio === null ? 0 : audio.micros_per_second * SECONDS_PER_MINUTE;
  return {
    shortChats: services.chat && chatMicros > 0 ? toTwoDigits(limit / chatMicros) : undefined,
    audioMinutes: services.audio_transcription && minuteMicros > 0 ? toTwoDigits(limit / minuteMicros) : undefined,
  };
};

const toTwoDigits = (count: number): number => {
  const step = 10 ** Math.max(0, String(Math.floor(count)).length - 2);
  return Math.floor(count / step) * step;
};

/** Returns the description of a plan in a language. */
export const planDescription = ({ description, descriptions }: Plan, locale: Locale): string =>
  descriptions?.[locale] ?? description;
