import { z } from 'zod';

/** A transcription request as it goes over the wire. */
export interface TranscriptionRequest {
  /** One non-empty audio file of at most 25,000,000 bytes; `openAsBlob` of `node:fs` gives one without reading it. */
  readonly file: Blob;
  /** Tells the kind of audio by its ending; a `File` brings its own. */
  readonly filename?: string | undefined;
  /** Two lower-case letters. */
  readonly language?: string | null | undefined;
  /** At most 4000 characters. */
  readonly prompt?: string | null | undefined;
  /** From 0 to 1. */
  readonly temperature?: number | null | undefined;
  readonly response_format?: 'json' | 'verbose_json' | undefined;
}

/** A transcription. */
export const transcriptionSchema = z.looseObject({
  text: z.string(),
  language: z.string().optional(),
  duration: z.number().optional(),
  segments: z.array(z.looseObject({ start: z.number(), end: z.number(), text: z.string() })).optional(),
});

/** A transcription; `verbose_json` adds language, duration in seconds, and segments. */
export type Transcription = z.infer<typeof transcriptionSchema>;

/** The form of a request; what is null or missing is left to the service. */
export const toTranscriptionForm = ({ file, filename, ...fields }: TranscriptionRequest): FormData => {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    if (value !== null && value !== undefined) form.append(name, String(value));
  }
  const ownName = 'name' in file && typeof file.name === 'string' ? file.name : 'audio';
  form.append('file', file, filename ?? ownName);
  return form;
};
