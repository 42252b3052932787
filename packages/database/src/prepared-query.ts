/// <reference path="./pg-utils.d.ts" />
import utils from 'pg/lib/utils.js';
import type { DriverCallback } from './driver-connection.ts';
import type { PreparedStatement } from './run-prepared.ts';
import { typeParsers } from './type-parsers.ts';

/** A column of an answer, as the driver tells it with a statement's first run. */
export interface DriverColumn {
  readonly name: string;
  readonly dataTypeID: number;
}

/** How a column's text becomes a value. */
export interface Column {
  readonly name: string;
  readonly parse: (text: string) => unknown;
}

/** What is used of the driver's protocol: messages of an extended query, which leave together. */
interface Wire {
  readonly stream: { cork(): void; uncork(): void };
  bind(message: { statement: string; values: readonly unknown[] }): void;
  execute(message: object): void;
  sync(): void;
}

/** What the columns of a statement's first answer are read by. */
export const toColumns = (columns: readonly DriverColumn[]): Column[] =>
  columns.map(({ name, dataTypeID }) => ({ name, parse: typeParsers.getTypeParser(dataTypeID) }));

/**
 * A statement that its connection has parsed before, and whose columns are known: what the server would describe again with each
 * run is neither asked for nor read. The driver takes it as it takes a cursor, and calls what it is named for
 * (https://www.postgresql.org/docs/18/protocol-flow.html#PROTOCOL-FLOW-EXT-QUERY).
 */
export class PreparedQuery {
  /** For traces. */
  readonly name: string;
  readonly text: string;
  /** Set by the driver. */
  callback: DriverCallback | undefined;
  readonly #values: readonly unknown[];
  readonly #columns: readonly Column[];
  readonly #rows: Record<string, unknown>[] = [];
  #failure: unknown;

  /** Throws for a value that cannot be sent. */
  constructor({ name, text }: PreparedStatement, values: readonly unknown[], columns: readonly Column[]) {
    this.name = name;
    this.text = text;
    this.#values = values.map(utils.prepareValue);
    this.#columns = columns;
  }

  submit(wire: Wire): null {
    wire.stream.cork();
    wire.bind({ statement: this.name, values: this.#values });
    wire.execute({});
    wire.sync();
    wire.stream.uncork();
    return null;
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    if (this.#failure !== undefined) return;
    const row: Record<string, unknown> = {};
    try {
      let place = 0;
      for (const { name, parse } of this.#columns) {
        const text = fields[place] ?? null;
        row[name] = text === null ? null : parse(text);
        place += 1;
      }
      this.#rows.push(row);
    } catch (error) {
      this.#failure = error;
    }
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    if (this.#failure === undefined) this.callback?.(null, { rows: this.#rows });
    else this.callback?.(this.#failure);
  }

  /** The server's refusal, or the loss of the connection; nothing else is told after it. */
  handleError(error: unknown): void {
    this.callback?.(this.#failure ?? error);
  }
}
