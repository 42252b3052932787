import type { Area, Language } from '../site/guide-sections.ts';

/** A searchable section. Short names, since the list has hundreds. */
export interface SearchEntry {
  /** Address with anchor. */
  readonly a: string;
  /** Title of the page. */
  readonly p: string;
  /** Heading; empty for the beginning of the page. */
  readonly h: string;
  /** Language of the page. */
  readonly l: Language;
  /** Group of results. */
  readonly g: Area;
  /** Text below the heading, shortened. */
  readonly t: string;
}
