import net from 'node:net';
import { Duplex } from 'node:stream';
import { bindToProcess, currentProcess, type SimulatedProcess } from '../engine/simulated-process.ts';
import { realTimer } from '../engine/time.ts';
import {
  createFrameReader,
  endsRequest,
  type Frame,
  readServerMessage,
  type ServerMessage,
  textOf,
  withoutLimits,
} from './frames.ts';

/**
 * `opening`: the client wants a connection. `idle`: the client has no request. `parked`: a complete request waits to be sent.
 * `blocked`: the server waits for a lock. `granted`: the lock is free, and the server may go on. `abandoned`: the client has
 * given the connection up.
 */
export type ConnectionState =
  | 'opening'
  | 'idle'
  | 'parked'
  | 'running'
  | 'blocked'
  | 'granted'
  | 'abandoned'
  | 'closed';

/** Path of the server's socket. */
export interface ServerAddress {
  readonly path: string;
}

const SQLSTATE_CANCELED = 'C57014';
/** SQLSTATE of a notice by which a guard inside a database reports a violation. */
const SQLSTATE_VIOLATION = 'SIM01';
/** Begins the message that a backend sends once it has waited for a lock for `deadlock_timeout`. */
const STILL_WAITING = /^process \d+ still waiting for /;
/** A step that takes longer is a fault of the machine or of the simulation. */
const STEP_MS_MAX = 120_000;

/** End of a step: the server has answered, or waits for a lock, or has closed the connection. */
export type StepEnd = 'answered' | 'waiting' | 'closed';

/**
 * A connection of a simulated process to the real PostgreSQL. It holds the client's requests back, and the server's answers too,
 * until the scheduler lets it make a step.
 */
export class SteppedConnection extends Duplex {
  readonly number: number;
  readonly databaseName: string;
  readonly owner: SimulatedProcess | undefined;
  state: ConnectionState = 'idle';
  /** Process id of the server's backend. */
  pid = 0;
  /** SQL of the current request, for the trace. */
  text = '';
  /** If true, the next step ends the wait for a lock as a timeout does. */
  isTimedOut = false;
  isAbandoned = false;
  /** Waits for locks so far. */
  waits = 0;
  /** True while the server has a transaction open that has not failed. Only this keeps locks from one request to the next. */
  holdsLocks = false;
  readonly #socket: net.Socket;
  readonly #fromClient = createFrameReader({ isClient: true });
  readonly #fromServer = createFrameReader({ isClient: false });
  readonly #deliver: (bytes: Buffer | null) => void;
  #request: Buffer[] = [];
  #answer: Buffer[] = [];
  #end: StepEnd | undefined;
  #onEnd: ((end: StepEnd) => void) | undefined;
  #error: ServerMessage | undefined;
  #violations: string[] = [];

  constructor(options: { readonly number: number; readonly databaseName: string; readonly server: ServerAddress }) {
    super();
    this.number = options.number;
    this.databaseName = options.databaseName;
    this.owner = currentProcess();
    this.#socket = new net.Socket();
    this.#server = options.server;
    this.#deliver = bindToProcess((bytes: Buffer | null) => void this.push(bytes));
    this.#emitConnect = bindToProcess(() => void this.emit('connect'));
    this.#socket.on('data', (chunk) => this.#receive(chunk));
    this.#socket.on('error', () => undefined);
    this.#socket.on('close', () => {
      this.state = 'closed';
      this.#finish('closed');
    });
  }

  readonly #server: ServerAddress;
  readonly #emitConnect: () => void;

  /** Called by the driver in place of that of a socket. The address is that of the simulated server. */
  connect(): this {
    this.state = 'opening';
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  override _read(): void {
    // Answers are pushed by the step that produced them.
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    const frames = this.#fromClient.push(chunk);
    const [first] = frames;
    this.#request.push(first?.type === 'startup' ? withoutLimits(first) : chunk);
    const text = frames.map(textOf).find((each) => each !== undefined);
    if (text !== undefined) this.text = text;
    if (frames.some(endsRequest) && this.state !== 'closed') this.state = 'parked';
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.isAbandoned = true;
    if (this.state === 'opening' || this.state === 'idle' || this.state === 'parked') this.state = 'abandoned';
    done(error);
  }

  /** The server ends the connection when it gets the client's last message. */
  override _final(done: () => void): void {
    done();
  }

  /** Opens the real connection and tells the client. */
  async open(): Promise<void> {
    const opened = Promise.withResolvers<void>();
    this.#socket.once('connect', opened.resolve);
    this.#socket.once('error', opened.reject);
    this.#socket.connect(this.#server);
    await opened.promise;
    this.state = 'idle';
    this.#emitConnect();
  }

  /** Sends the parked request, and resolves when the step has ended. */
  send(): Promise<StepEnd> {
    const request = Buffer.concat(this.#request);
    this.#request = [];
    this.#error = undefined;
    this.#violations = [];
    this.state = 'running';
    const ended = this.#nextEnd();
    this.#socket.write(request);
    return ended;
  }

  /** Resolves when the step of a backend that goes on has ended. */
  goOn(): Promise<StepEnd> {
    this.state = 'running';
    return this.#nextEnd();
  }

  /** Violations that guards reported in the transaction that the last step has committed. */
  get violations(): readonly string[] {
    return this.#error === undefined ? this.#violations : [];
  }

  /** Error that the last step ended with. */
  get error(): ServerMessage | undefined {
    return this.#error;
  }

  /** Hands the complete answer to the client. */
  deliver(): void {
    const answer = Buffer.concat(this.#answer);
    this.#answer = [];
    if (this.state !== 'closed') this.state = 'idle';
    if (this.owner?.isAlive === false || this.isAbandoned) return;
    if (answer.length > 0) this.#deliver(this.isTimedOut ? asTimeout(answer) : answer);
    this.isTimedOut = false;
    if (this.state === 'closed') this.#deliver(null);
  }

  closeSocket(): void {
    this.#socket.destroy();
  }

  #nextEnd(): Promise<StepEnd> {
    if (this.#socket.destroyed) return Promise.resolve('closed');
    this.#end = undefined;
    const { promise, resolve, reject } = Promise.withResolvers<StepEnd>();
    const late = realTimer(STEP_MS_MAX, () =>
      reject(new Error(`a step took longer than ${STEP_MS_MAX} ms: ${this.text}`)),
    );
    this.#onEnd = (end) => {
      late.clear();
      resolve(end);
    };
    return promise;
  }

  #finish(end: StepEnd): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.#onEnd?.(end);
    this.#onEnd = undefined;
  }

  #receive(chunk: Buffer): void {
    for (const frame of this.#fromServer.push(chunk)) {
      if (frame.type === 'N') this.#notice(readServerMessage(frame));
      else {
        this.#answer.push(frame.bytes);
        this.#note(frame);
      }
    }
  }

  /** Notices end here: those of a step differ in process ids and durations, and no service reads them. */
  #notice({ code, message }: ServerMessage): void {
    if (code === SQLSTATE_VIOLATION) this.#violations.push(message);
    else if (STILL_WAITING.test(message)) this.#finish('waiting');
  }

  #note(frame: Frame): void {
    const { type, body } = frame;
    if (type === 'K') this.pid = body.readInt32BE(0);
    if (type === 'E') this.#error = readServerMessage(frame);
    if (type !== 'Z') return;
    this.holdsLocks = String.fromCharCode(body.readUInt8(0)) === 'T';
    this.#finish('answered');
  }
}

/** Replaces the code of a cancellation, which has the same length, so that the client sees a timeout. */
const asTimeout = (answer: Buffer): Buffer => {
  const place = answer.indexOf(SQLSTATE_CANCELED);
  if (place !== -1) answer.write('C55P03', place, 'latin1');
  return answer;
};
