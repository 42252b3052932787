/** A search result. Short names, since the index has hundreds. */
export interface SearchEntry {
  /** Address with anchor. */
  readonly a: string;
  /** Title of the page. */
  readonly p: string;
  /** Heading; empty for the beginning of the page. */
  readonly h: string;
  /** Language of the page. */
  readonly l: string;
  /** Text below it, shortened. */
  readonly t: string;
}
