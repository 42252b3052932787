import { commonWire } from '../common-wire/index.ts';
import type { ProviderKind } from '../provider-kind.ts';

/** A vLLM or Ollama server of one's own; see the README of this folder. */
export const vllm: ProviderKind = { ...commonWire };
