// SPDX-License-Identifier: Apache-2.0
// Line drawings beside words. They mean nothing alone, so screen readers pass them over.

const paths = {
  music: 'M9 18V5l11-2v13M9 18a3 3 0 1 1-6 0 3 3 0 0 1 6 0zM20 16a3 3 0 1 1-6 0 3 3 0 0 1 6 0z',
  brain:
    'M12 5a3 3 0 0 0-5.9-.6A3.2 3.2 0 0 0 4 9.6 3.6 3.6 0 0 0 5 16a3.4 3.4 0 0 0 7 1zM12 5a3 3 0 0 1 5.9-.6A3.2 3.2 0 0 1 20 9.6a3.6 3.6 0 0 1-1 6.4 3.4 3.4 0 0 1-7 1zM12 5v13',
  gaze: 'M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12zM15 12a3 3 0 1 1-6 0 3 3 0 0 1 6 0z',
  code: 'M8.5 7 3.5 12l5 5M15.5 7l5 5-5 5M13.5 4.5l-3 15',
  puzzles: 'M4 4h16v16H4zM4 9.3h16M4 14.7h16M9.3 4v16M14.7 4v16',
  machine: 'M7 7h10v10H7zM10 3v4M14 3v4M10 17v4M14 17v4M3 10h4M3 14h4M17 10h4M17 14h4',
  play: 'M7 4.5v15l12-7.5z',
  pause: 'M7.5 5v14M16.5 5v14',
  heart: 'M12 20S3.5 15 3.5 9A4.6 4.6 0 0 1 12 6.6 4.6 4.6 0 0 1 20.5 9c0 6-8.5 11-8.5 11z',
  trash: 'M4 7h16M9 7V4h6v3M6.5 7l1 13h9l1-13M10 11v5M14 11v5',
  download: 'M12 4v11M7.5 11l4.5 4.5 4.5-4.5M4.5 20h15',
  upload: 'M12 16V5M7.5 9 12 4.5 16.5 9M4.5 20h15',
  close: 'M6 6l12 12M18 6 6 18',
  queue: 'M4 6h16M4 12h16M4 18h9',
  sun: 'M16 12a4 4 0 1 1-8 0 4 4 0 0 1 8 0zM12 2.5v2M12 19.5v2M2.5 12h2M19.5 12h2M5.3 5.3l1.4 1.4M17.3 17.3l1.4 1.4M5.3 18.7l1.4-1.4M17.3 6.7l1.4-1.4',
  moon: 'M20 14.5A8.5 8.5 0 0 1 9.5 4 8.5 8.5 0 1 0 20 14.5z',
  screen: 'M3.5 5h17v11h-17zM9 20h6M12 16v4',
  plus: 'M12 5v14M5 12h14',
  again: 'M20 11a8 8 0 1 0-1.5 5.5M20 5v6h-6',
  stop: 'M6.5 6.5h11v11h-11z',
  up: 'M12 19V6M6.5 11 12 5.5l5.5 5.5',
  check: 'M5 12.5 10 17.5 19.5 7',
  dice: 'M4.5 4.5h15v15h-15zM9 9h.01M15 9h.01M9 15h.01M15 15h.01M12 12h.01',
  pencil: 'M4.5 19.5l1-4L16 5l3 3L8.5 18.5z',
  list: 'M9 6h11M9 12h11M9 18h11M4.5 6h.01M4.5 12h.01M4.5 18h.01',
  spark: 'M12 3.5l2 6.5 6.5 2-6.5 2-2 6.5-2-6.5-6.5-2 6.5-2z',
} as const;

export type SignName = keyof typeof paths;

export function Sign({ name, full = false }: { name: SignName; full?: boolean }) {
  return (
    <svg class={full ? 'sign full' : 'sign'} viewBox="0 0 24 24" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}
