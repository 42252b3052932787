import { StringDecoder } from 'node:string_decoder';

/** Cuts what is read into lines, wherever the reads end. Lines are of UTF-8 and end with LF. */
export class LineSplitter {
  readonly #charactersMax: number;
  readonly #decoder = new StringDecoder('utf8');
  #rest = '';

  constructor(charactersMax: number) {
    this.#charactersMax = charactersMax;
  }

  /** The lines that are whole now. Throws where one is longer than it may be. */
  take(bytes: Buffer): string[] {
    const lines = `${this.#rest}${this.#decoder.write(bytes)}`.split('\n');
    this.#rest = lines.pop() ?? '';
    if (this.#rest.length > this.#charactersMax) throw new Error('a line is too long');
    return lines;
  }
}
