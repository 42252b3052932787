import type { ResponseRequest } from '@svc/contracts';
import { isRecord, isSet } from '../../wire/index.ts';
import type { RawJson, RawRequest } from './raw-json.ts';
import { defined } from './translate-content.ts';
import { Unsupported } from './unsupported.ts';

const CHOICES: ReadonlySet<unknown> = new Set(['auto', 'none', 'required']);

/** Translates functions and the tool choice. Throws Unsupported for built-in tools. */
export const translateTools = (
  { tools, tool_choice: choice }: ResponseRequest,
  raw: RawRequest,
): Readonly<Record<string, unknown>> => ({
  ...(Array.isArray(tools) && tools.length > 0
    ? { tools: tools.map((tool, place) => toFunction(tool, () => raw.tool(place, 'parameters'))) }
    : {}),
  ...(isSet(choice) ? { tool_choice: toChoice(choice) } : {}),
});

const toFunction = (
  tool: NonNullable<ResponseRequest['tools']>[number],
  rawParameters: () => RawJson | undefined,
): object => {
  if (tool.type !== 'function') {
    throw new Unsupported('tools', `${tool.type.slice(0, 64)} is a built-in tool. Only functions are served.`);
  }
  const { name, description, parameters, strict } = tool;
  const described = { ...defined('description', description), ...defined('parameters', parameters && rawParameters()) };
  return { type: 'function', function: { name, ...described, ...defined('strict', strict) } };
};

const toChoice = (choice: ResponseRequest['tool_choice']): unknown => {
  if (CHOICES.has(choice)) return choice;
  if (isRecord(choice) && choice['type'] === 'function') {
    return { type: 'function', function: { name: choice['name'] } };
  }
  throw new Unsupported('tool_choice', 'it must be auto, none, required or a function.');
};

/** Translates the format of the text. Throws Unsupported for an unknown format. */
export const translateFormat = ({ text }: ResponseRequest, raw: RawRequest): Readonly<Record<string, unknown>> => {
  const format = text?.format;
  if (format === null || format === undefined || format.type === 'text') return {};
  if (format.type === 'json_object') return { response_format: { type: 'json_object' } };
  if (format.type !== 'json_schema')
    throw new Unsupported('text.format', 'it must be text, json_object or json_schema.');
  const { name, description, strict } = format;
  const schema = raw.member('text', 'format', 'schema');
  const described = { name, ...defined('description', description), schema, ...defined('strict', strict) };
  return { response_format: { type: 'json_schema', json_schema: described } };
};
