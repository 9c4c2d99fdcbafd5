"""What programs can ask of the portal's own pages: saved views of the table of projects."""
