import type { z } from 'zod';
import { type SettingMetadata, settingMetadata } from './setting.ts';

/** One variable of a service, as documents show it. */
export interface SettingDescription extends SettingMetadata {
  name: string;
}

/** Lists the variables of a schema in its order. Throws when one was not made by `setting`, as it would go undocumented. */
export const describeSettings = (schema: z.ZodObject): SettingDescription[] =>
  Object.entries(schema.shape).map(([name, member]) => {
    const metadata = settingMetadata(member);
    if (metadata === undefined) throw new Error(`${name} has no metadata: make it with setting.*`);
    return { name, ...metadata };
  });

/** The text of `.env.example`: required variables stand empty, the others are commented out with their default. */
export const renderEnvExample = (schema: z.ZodObject): string => {
  const blocks = describeSettings(schema).map((item) => {
    const notes = [item.expected, item.required ? 'required' : 'optional', ...(item.secret ? ['secret'] : [])];
    const line = item.required ? `${item.name}=` : `# ${item.name}=${item.default ?? ''}`;
    return `# ${item.description}\n# (${notes.join('; ')})\n${line}\n`;
  });
  return `# Generated from the configuration schema; not edited by hand.\n\n${blocks.join('\n')}`;
};

/** The configuration table of a service's README, as Markdown. */
export const renderSettingsTable = (schema: z.ZodObject): string => {
  const rows = describeSettings(schema).map((item) => {
    const fallback = item.default === undefined ? (item.required ? 'required' : '') : `\`${item.default}\``;
    const cells = [`\`${item.name}\``, item.description, item.expected, fallback, item.secret ? 'yes' : ''];
    return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  });
  return ['| variable | meaning | value | default | secret |', '| --- | --- | --- | --- | --- |', ...rows, ''].join(
    '\n',
  );
};

/** What a service may log of its configuration at start: secrets only as set or not, and no credentials in URLs. */
export const summarizeConfig = <S extends z.ZodObject>(schema: S, config: z.infer<S>): Record<string, string> => {
  const values: Record<string, unknown> = config;
  const entries = describeSettings(schema).map(({ name, secret }): [string, string] => {
    const value = values[name];
    if (value === undefined) return [name, '(unset)'];
    return [name, secret ? '(set)' : withoutUserinfo(Array.isArray(value) ? value.join(',') : String(value))];
  });
  return Object.fromEntries(entries);
};

const withoutUserinfo = (text: string): string => text.replace(/\/\/[^/@\s]*@/g, '//');
