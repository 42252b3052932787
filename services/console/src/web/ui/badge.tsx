import type { ReactElement } from 'react';

/** What a state means for the person: colour never says it alone, the text does. */
export type Tone = 'good' | 'neutral' | 'warn' | 'bad';

/** A short state. */
export const Badge = ({ tone, children }: { tone: Tone; children: string }): ReactElement => (
  <span className={`badge badge-${tone}`}>{children}</span>
);
