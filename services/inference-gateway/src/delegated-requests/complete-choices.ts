import { UpstreamFailure } from '../upstream-failure.ts';
import {
  type CallIndexes,
  choiceIndex,
  contentText,
  createArgumentsReader,
  isRecord,
  isSet,
  placeCall,
  type ReadArguments,
} from '../wire/index.ts';
import { publicChoice, publicDelta } from './public-members.ts';

interface ResponseSource {
  /** The provider's response or event, in which arguments are read as they are written. */
  readonly bytes: Buffer;
  /** Public id of the response, from which missing ids of calls are made. */
  readonly id: string;
}

/** Place of a choice in its list, and its index. */
interface ChoicePlace {
  readonly place: number;
  readonly index: number;
}

type Members = Readonly<Record<string, unknown>>;

/**
 * Returns the choices of a provider's response as our own contract requires them: members that follow from the others are
 * completed, those outside the common wire format are dropped. Throws UpstreamFailure, `unusable`, for a choice that
 * cannot be completed.
 */
export const completeChoices = (choices: readonly unknown[], { bytes, id }: ResponseSource): unknown[] => {
  const readArguments = createArgumentsReader(bytes, 'message');
  return placed(choices, isRecord).map(({ choice, ...at }) => {
    const { message, finish_reason: reason } = choice;
    if (!isRecord(message)) throw new UpstreamFailure('unusable');
    const completed = {
      ...message,
      ...sharedMembers(message, at, readArguments),
      role: textOf(message['role']) ?? 'assistant',
      content: contentText(message['content']),
      tool_calls: listOf(message['tool_calls']).map((call, place) =>
        completeCall(call, { id, at, place, readArguments }),
      ),
    };
    const hasCalls = completed.tool_calls.length > 0;
    return publicChoice({
      ...choice,
      index: at.index,
      finish_reason: textOf(reason) ?? null,
      message: hasCalls ? completed : { ...completed, tool_calls: undefined },
    });
  });
};

/** Returns the choices of a chunk in the same way. `calls` are the calls of the stream so far. */
export const completeDeltas = (
  choices: readonly unknown[],
  { bytes, id, calls }: ResponseSource & { readonly calls: CallIndexes },
): unknown[] => {
  const readArguments = createArgumentsReader(bytes, 'delta');
  return placed(choices, isShown).map(({ choice, ...at }) => {
    const { finish_reason: reason } = choice;
    const delta = choice['delta'] ?? {};
    if (!isRecord(delta)) throw new UpstreamFailure('unusable');
    const pieces = listOf(delta['tool_calls']);
    const completed = {
      ...delta,
      ...sharedMembers(delta, at, readArguments),
      role: textOf(delta['role']),
      content: delta['content'] === undefined ? undefined : contentText(delta['content']),
      tool_calls: pieces.map((call, place) => completePiece(call, { id, at, place, readArguments, calls })),
    };
    return publicDelta({
      ...choice,
      index: at.index,
      finish_reason: textOf(reason) ?? null,
      delta: pieces.length > 0 ? completed : { ...completed, tool_calls: undefined },
    });
  });
};

/** Drops choices with neither delta nor finish reason: they contain provider data, such as the results of a filter. */
const isShown = (choice: unknown): choice is Members =>
  isRecord(choice) &&
  (isRecord(choice['delta']) || isSet(choice['delta']) || typeof choice['finish_reason'] === 'string');

/**
 * Returns the choices that `fits` accepts, each with its index. Throws UpstreamFailure, `unusable`, if the place of a
 * choice without an index is the index of another.
 */
const placed = (
  choices: readonly unknown[],
  fits: (choice: unknown) => choice is Members,
): (ChoicePlace & { readonly choice: Members })[] => {
  const list: (ChoicePlace & { readonly choice: Members })[] = [];
  for (const [place, choice] of choices.entries()) {
    if (fits(choice)) list.push({ choice, place, index: choiceIndex(choice, place) });
  }
  const isCompleted = list.some(({ choice, index }) => choice['index'] !== index);
  const isRepeated = new Set(list.map(({ index }) => index)).size < list.length;
  if (isCompleted && isRepeated) throw new UpstreamFailure('unusable');
  return list;
};

/** Reads the legacy call, whose arguments some providers send as an object. */
const sharedMembers = (message: Members, { place }: ChoicePlace, readArguments: ReadArguments): Members => {
  const { function_call: call } = message;
  if (!isRecord(call)) return {};
  return {
    function_call: { ...call, arguments: readArguments(call['arguments'], { choice: place, call: undefined }) },
  };
};

interface CallSource {
  readonly id: string;
  readonly at: ChoicePlace;
  /** Place of the call in its list. */
  readonly place: number;
  readonly readArguments: ReadArguments;
}

const completeCall = (call: unknown, source: CallSource): Members => {
  const { called, custom, args } = readCall(call, source);
  if (called === undefined && custom === undefined) throw new UpstreamFailure('unusable');
  const name = textOf(called?.['name']);
  if (called !== undefined && name === undefined) throw new UpstreamFailure('unusable');
  return {
    id: textOf(isRecord(call) ? call['id'] : undefined) ?? madeId(source, source.place),
    type: called === undefined ? 'custom' : 'function',
    function: called && { name, arguments: args ?? '{}' },
    custom,
  };
};

const completePiece = (call: unknown, source: CallSource & { readonly calls: CallIndexes }): Members => {
  const { called, custom, args } = readCall(call, source);
  const piece: Members = isRecord(call) ? call : {};
  const id = textOf(piece['id']);
  const name = textOf(called?.['name']) ?? textOf(custom?.['name']);
  const { index, isNew } = placeCall(source.calls, source.at.index, { index: piece['index'], id, name });
  return {
    index,
    id: isNew ? (id ?? madeId(source, index)) : id,
    type: isNew ? (custom === undefined ? 'function' : 'custom') : textOf(piece['type']),
    function: called && { name: textOf(called['name']), arguments: args ?? (isNew ? '' : undefined) },
    custom,
  };
};

/** Reads a call. Throws UpstreamFailure, `unusable`, if it is no object. */
const readCall = (call: unknown, { at, place, readArguments }: CallSource) => {
  if (!isRecord(call)) throw new UpstreamFailure('unusable');
  const called = isRecord(call['function']) ? call['function'] : undefined;
  const custom = isRecord(call['custom']) ? call['custom'] : undefined;
  return { called, custom, args: readArguments(called?.['arguments'], { choice: at.place, call: place }) };
};

/** Makes the id of a call without one, the same each time. */
const madeId = ({ id, at }: CallSource, call: number): string => `call_${id}_${at.index}_${call}`;

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);
