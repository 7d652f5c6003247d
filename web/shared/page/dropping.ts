// SPDX-License-Identifier: Apache-2.0
// Files that a person drops anywhere on the page; folders are opened, one level of folders deep and
// more. Says nothing about what the files are.

const mostFiles = 200; // more is a wrong folder

function entryFile(entry: FileSystemFileEntry): Promise<File> {
  return new Promise((resolve, reject) => entry.file(resolve, reject));
}

async function directoryEntries(directory: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = directory.createReader();
  const all: FileSystemEntry[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    );
    if (some.length === 0) return all;
    all.push(...some);
  }
}

async function filesIn(entry: FileSystemEntry, found: File[]): Promise<void> {
  if (found.length >= mostFiles) return;
  if (entry.isFile) found.push(await entryFile(entry as FileSystemFileEntry));
  if (!entry.isDirectory) return;
  for (const inner of await directoryEntries(entry as FileSystemDirectoryEntry)) {
    await filesIn(inner, found);
  }
}

async function filesOf(transfer: DataTransfer): Promise<File[]> {
  // Entries must be asked for before anything is awaited: afterwards the transfer is empty.
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.() ?? null);
  const plain = [...transfer.files];
  if (!entries.some((entry) => entry?.isDirectory)) return plain;
  const found: File[] = [];
  for (const entry of entries) if (entry) await filesIn(entry, found);
  return found;
}

export function onDrop(take: (files: File[]) => void): void {
  const root = document.documentElement;
  let depth = 0; // enter and leave come for every element on the way
  const holdsFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false;
  addEventListener('dragenter', (event) => {
    if (!holdsFiles(event)) return;
    depth += 1;
    root.classList.add('dropping');
  });
  addEventListener('dragleave', () => {
    depth = Math.max(0, depth - 1);
    if (depth === 0) root.classList.remove('dropping');
  });
  addEventListener('dragover', (event) => event.preventDefault());
  addEventListener('drop', (event) => {
    event.preventDefault();
    depth = 0;
    root.classList.remove('dropping');
    if (!event.dataTransfer) return;
    void filesOf(event.dataTransfer).then((files) => files.length > 0 && take(files));
  });
}
