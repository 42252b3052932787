import { commonWire } from '../common-wire/index.ts';
import type { ProviderKind } from '../provider-kind.ts';

/** Self-hosted vLLM or Ollama. See the README of this folder. */
export const vllm: ProviderKind = { ...commonWire };
