// Files that the bundler embeds: importing one gives its path.
declare module "*.so" {
  const path: string;
  export default path;
}

declare module "*.csv" {
  const text: string;
  export default text;
}
