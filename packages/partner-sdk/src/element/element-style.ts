/** Styles of the button. Pages set the custom properties, or style `::part(button)` and `::part(message)`. */
export const ELEMENT_STYLE = `
:host { display: inline-block; font: var(--svc-connect-font, inherit); }
:host([hidden]) { display: none; }
button {
  display: inline-flex; align-items: center; justify-content: center; gap: 0.5em;
  min-height: 2.75rem; padding: var(--svc-connect-padding, 0.5rem 1.125rem);
  font: inherit; font-weight: 600; cursor: pointer;
  color: var(--svc-connect-color, #fff); background: var(--svc-connect-background, #3a4fd0);
  border: 1px solid var(--svc-connect-border, transparent); border-radius: var(--svc-connect-radius, 0.5rem);
}
button:hover { filter: brightness(0.93); }
button:focus-visible { outline: 3px solid var(--svc-connect-focus, #3a4fd0); outline-offset: 2px; }
button[disabled], button[aria-disabled=true] { cursor: default; opacity: 0.65; filter: none; }
button[aria-busy=true]::before {
  content: ""; width: 1em; height: 1em; border: 2px solid; border-right-color: transparent; border-radius: 50%;
  animation: turn 0.8s linear infinite;
}
[hidden] { display: none; }
span:not(:empty) { display: block; margin-top: 0.375rem; }
@keyframes turn { to { rotate: 1turn; } }
@media (prefers-reduced-motion: reduce) { button[aria-busy=true]::before { animation: none; } }
`;
