import { type Infer, list, number, openObject, optional, text } from '../shape.ts';

/** A transcription request in the wire format. */
export interface TranscriptionRequest {
  /** One non-empty audio file of at most 25,000,000 bytes. `openAsBlob` of `node:fs` opens one without reading it. */
  readonly file: Blob;
  /** Its extension names the audio format. A `File` brings its own name. */
  readonly filename?: string | undefined;
  /** Two lower-case letters. */
  readonly language?: string | null | undefined;
  /** At most 4000 characters. */
  readonly prompt?: string | null | undefined;
  /** From 0 to 1. */
  readonly temperature?: number | null | undefined;
  readonly response_format?: 'json' | 'verbose_json' | undefined;
}

export const transcriptionShape = openObject({
  text: text(),
  language: optional(text()),
  duration: optional(number()),
  segments: optional(list(openObject({ start: number(), end: number(), text: text() }))),
});

/** A transcription. `verbose_json` adds language, duration in seconds, and segments. */
export type Transcription = Infer<typeof transcriptionShape>;

/** Builds the multipart form. Null and missing fields are left to the service. */
export const toTranscriptionForm = ({ file, filename, ...fields }: TranscriptionRequest): FormData => {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    if (value !== null && value !== undefined) form.append(name, String(value));
  }
  const ownName = 'name' in file && typeof file.name === 'string' ? file.name : 'audio';
  form.append('file', file, filename ?? ownName);
  return form;
};
