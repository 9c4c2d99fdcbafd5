# One image for web, workers, beat and migrations.

FROM node:24-slim AS front
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts --no-progress

FROM python:3.12-slim AS packages
COPY requirements.txt ./
RUN python -m venv /venv && /venv/bin/pip install --no-cache-dir --require-hashes -r requirements.txt

FROM python:3.12-slim
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
RUN useradd --system --uid 10001 --home-dir /app --shell /usr/sbin/nologin sluice \
 && install -d -o sluice -g sluice -m 0750 /data
WORKDIR /app
COPY --from=packages /venv /venv
COPY --from=front /app/node_modules ./node_modules
COPY manage.py ./
COPY accounts ./accounts
COPY approvals ./approvals
COPY agent ./agent
COPY inventory ./inventory
COPY kernel ./kernel
COPY locale ./locale
COPY monitoring ./monitoring
COPY portal ./portal
COPY projects ./projects
COPY quotas ./quotas
COPY scheduling ./scheduling
COPY static ./static
COPY templates ./templates
RUN python -m babel.messages.frontend compile -d locale -D django
# Collecting files reads no secret and reaches no service; these values end with this line.
RUN DJANGO_SETTINGS_MODULE=portal.settings.production SLUICE_SECRET_KEY=unused SLUICE_ALLOWED_HOSTS=unused \
    SLUICE_BASE_URL=https://unused SLUICE_DATABASE_URL=postgres://unused@unused/unused \
    SLUICE_BROKER_URL=redis://unused/0 SLUICE_CACHE_URL=redis://unused/1 \
    python manage.py collectstatic --noinput \
 && rm -rf node_modules
USER sluice
VOLUME /data
EXPOSE 8000
CMD ["python", "-m", "uvicorn", "portal.asgi:application", "--host", "0.0.0.0", "--port", "8000"]
